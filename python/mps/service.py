"""A service, as a program uses it."""

from __future__ import annotations

from typing import Any

from .connection import Connection
from .login import chosen_login


class Service:
    """What :func:`connect` returns: the operations of one service. ``connection`` calls those that have no method here."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    @property
    def url(self) -> str:
        """Address of the service."""
        return self.connection.url

    def request(self, method: str, path: str, **call: Any) -> Any:
        """Call any operation of the service's API: see :meth:`mps.connection.Connection.request`."""
        return self.connection.request(method, path, **call)

    def __repr__(self) -> str:
        return f"<mps.Service {self.url}>"


def connect(url: str | None = None, token: str | None = None, *, timeout: float = 60.0) -> Service:
    """Return the service that the given address and token, ``MPS_URL`` and ``MPS_TOKEN``, a run of CI, the job that this
    program is, or the last ``mps login`` name, the first of these. It asks the service nothing.

    ``timeout`` is the number of seconds for which the service may send nothing.

    :raises Error: for a wrong address, and if nobody is signed in
    """
    login = chosen_login(url, token)
    return Service(Connection(login.url, login.token, job=login.job, timeout=timeout))
