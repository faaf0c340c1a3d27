"""The one exception of this package."""

from __future__ import annotations


class Error(Exception):
    """A fault in one sentence, which says what is allowed or what to do.

    ``status`` is the HTTP status of the service's answer; ``None`` if no answer came. ``kind`` is the kind of its problem
    document, such as ``not-found``, or MLflow's code, such as ``RESOURCE_DOES_NOT_EXIST``; blank if it has none.
    """

    def __init__(self, message: str, *, status: int | None = None, kind: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
