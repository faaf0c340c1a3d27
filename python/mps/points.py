"""Points of metrics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from .error import Error

if TYPE_CHECKING:
    from . import models


class Point(NamedTuple):
    """A value of a metric. ``step`` is None for a point without one; ``time`` is ISO 8601 in UTC."""

    name: str
    value: float
    step: float | None
    time: str


class Points(Sequence[Point]):
    """Points of one or several metrics, in order of arrival; of a reduced curve, in order of their steps."""

    def __init__(self, rows: Iterable[models.Point]) -> None:
        # JSON has no NaN: it comes as a text, which float() reads.
        self._points = [Point(row["name"], float(row["value"]), row["step"], row["time"]) for row in rows]

    def __len__(self) -> int:
        return len(self._points)

    @overload
    def __getitem__(self, index: int) -> Point: ...
    @overload
    def __getitem__(self, index: slice) -> list[Point]: ...
    def __getitem__(self, index: int | slice) -> Point | list[Point]:
        return self._points[index]

    @property
    def values(self) -> list[float]:
        """The values, NaN and infinite ones included."""
        return [point.value for point in self]

    @property
    def steps(self) -> list[float | None]:
        """The step of each value."""
        return [point.step for point in self]

    def df(self) -> Any:
        """Return a ``pandas.DataFrame`` with the columns ``name``, ``step``, ``value`` and ``time`` (a timestamp in UTC).

        :raises Error: without pandas
        """
        pandas = require_pandas()
        frame = pandas.DataFrame(self._points, columns=list(Point._fields))
        frame["time"] = pandas.to_datetime(frame["time"], utc=True)
        return frame[["name", "step", "value", "time"]]

    def __repr__(self) -> str:
        names = sorted({point.name for point in self})
        return f"<mps.Points of {', '.join(names) or 'no metric'}: {len(self)}>"


def require_pandas() -> Any:
    """Import pandas, which this package does not bring. :raises Error: if it is not there"""
    try:
        import pandas
    except ImportError as fault:
        raise Error("df() needs pandas: pip install pandas") from fault
    return pandas
