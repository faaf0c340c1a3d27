"""Lists of runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from itertools import islice
from typing import TYPE_CHECKING, Any

from .points import require_pandas
from .project import project_id
from .run import Run

if TYPE_CHECKING:
    from .connection import Connection

# Runs of one request.
_page = 200

# Attributes to sort by; all other names are metrics.
_attributes = frozenset(
    "experiment_id name status kind user config created_at started_at stopped_at duration cost best sweep trial outcome".split()
)


class Runs:
    """Runs that a filter selects, in an order. They are read page after page, as far as they are asked for, each time anew."""

    def __init__(
        self,
        connection: Connection,
        project: str | None,
        filter: str | None,
        order: str | Sequence[str] | None,
        limit: int | None,
    ) -> None:
        self._connection = connection
        self._project = project
        self._query = {"filter": filter, "order_by": order_text(order), "limit": min(_page, limit or _page)}
        self._limit = limit

    def __iter__(self) -> Iterator[Run]:
        path = "/experiments" if self._project is None else f"/projects/{project_id(self._connection, self._project)}/experiments"
        rows = self._connection.rows(path, query=self._query)
        return (Run(self._connection, row) for row in islice(rows, self._limit))

    def first(self) -> Run | None:
        """Return the first run; None if there is none."""
        return next(iter(self), None)

    def df(self) -> Any:
        """Return a ``pandas.DataFrame`` with a row for each run.

        Its columns are the attributes (``experiment_id``, ``name``, ``status``, ``created_at`` and further times as timestamps in UTC,
        ``duration`` in seconds, ``cost`` in US dollars), ``params.NAME`` (numbers if all are), ``metrics.NAME`` (the last value) and
        ``tags.NAME``.

        :raises Error: without pandas
        """
        pandas = require_pandas()
        rows = [_row(run) for run in self]
        names = list(dict.fromkeys(name for row in rows for name in row))
        groups = ("params.", "metrics.", "tags.")
        names.sort(key=lambda name: next((at for at, group in enumerate(groups, 1) if name.startswith(group)), 0))
        frame = pandas.DataFrame(rows, columns=names or list(_times))
        for name in _times:
            frame[name] = pandas.to_datetime(frame[name], utc=True)
        for name in names:
            if name.startswith("params."):
                numbers = pandas.to_numeric(frame[name], errors="coerce")
                if (numbers.notna() == frame[name].notna()).all():
                    frame[name] = numbers
        return frame

    def __repr__(self) -> str:
        facts = [f"{name}={value!r}" for name, value in {"project": self._project, **self._query}.items() if value is not None]
        return f"<mps.Runs {', '.join(facts)}>"

    def _repr_html_(self) -> str:
        runs = list(islice(self, 21))
        metrics = list(dict.fromkeys(name for run in runs for name in run.record["metrics"]))[:6]
        head = "".join(f"<th>{escape(name)}</th>" for name in ["name", "status", "created", *metrics])
        body = "".join(f"<tr>{_cells(run, metrics)}</tr>" for run in runs[:20])
        more = "<p>and more</p>" if len(runs) > 20 else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


_times = ("created_at", "started_at", "stopped_at")


def _row(run: Run) -> dict[str, Any]:
    record = run.record
    attributes = ("experiment_id", "name", "status", *_times, "duration", "cost", "user", "kind", "project_id")
    return {
        **{name: record.get(name) for name in attributes},
        **{f"params.{name}": value for name, value in record["params"].items()},
        **{f"metrics.{name}": float(one["last"]) for name, one in record["metrics"].items()},
        **{f"tags.{name}": value for name, value in record["tags"].items()},
    }


def _cells(run: Run, metrics: Sequence[str]) -> str:
    known = run.record["metrics"]
    values = [f"{float(known[name]['last']):.6g}" if name in known else "" for name in metrics]
    link = f"<a href='{escape(run.url)}' target='_blank' rel='noopener'>{escape(run.name)}</a>"
    created = run.record["created_at"][:16].replace("T", " ")
    return "".join(f"<td>{text}</td>" for text in [link, *map(escape, [run.status, created, *values])])


def order_text(order: str | Sequence[str] | None) -> str | None:
    """Return an order in the service's words: ``-acc`` is ``metrics.`acc` DESC``, as ``mps ls --sort -acc`` has it.

    An order with ``ASC`` or ``DESC`` is left as it is.
    """
    if order is None:
        return None
    terms = [order] if isinstance(order, str) else order
    return ", ".join(_term(term) for term in terms)


def _term(term: str) -> str:
    if re.search(r"(?i)\s(asc|desc)\s*$", term):
        return term
    name = term[1:] if term.startswith("-") else term
    whole = name if name in _attributes or re.match(r"(metrics|params|tags)\.", name) else f"metrics.`{name}`"
    return f"{whole} {'DESC' if term.startswith('-') else 'ASC'}"
