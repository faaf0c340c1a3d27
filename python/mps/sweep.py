"""Sweeps: many trials of settings."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from .error import Error
from .runs import Runs

if TYPE_CHECKING:
    from . import models
    from .connection import Connection


class Best(NamedTuple):
    """The best trial of a sweep.

    ``value`` is the best value of the metric at any step, the mean of the repeats if there are several; ``last`` is the value at the end.
    """

    trial: int
    params: dict[str, str | float | bool]
    value: float
    last: float | None


class Sweep:
    """A sweep as it was read. :meth:`refresh` reads it again; ``record`` has all that the service says of it."""

    def __init__(self, connection: Connection, record: models.Sweep) -> None:
        self._connection = connection
        self.record = record

    @property
    def id(self) -> str:
        return self.record["sweep_id"]

    @property
    def status(self) -> str:
        """RUNNING, PAUSED, COMPLETED, CANCELLED or FAILED."""
        return self.record["status"]

    @property
    def path(self) -> str:
        """Its path in the API, for ``service.request``."""
        return f"/projects/{self.record['project_id']}/sweeps/{self.id}"

    @property
    def url(self) -> str:
        """Its page in the console."""
        return f"{self._connection.url}/console#/projects/{self.record['project_id']}/sweeps/{self.id}"

    @property
    def best(self) -> Best:
        """The best trial whose repeats have all ended. :raises Error: if no trial has a finite value of the metric"""
        best = self.record["best"]
        if best is None:
            raise Error(f"No trial of {self.record['name']} has ended with a value of {self.record['metric']}.")
        return Best(best["trial"], best["params"], best["value"], best["last"])

    @property
    def progress(self) -> str:
        """How far it is, in a line."""
        record = self.record
        counts = record["counts"]
        ended = counts["complete"] + counts["stopped_early"] + counts["failed"] + counts["cancelled"]
        best = record["best"]
        parts = [f"{record['status']}: {ended} of {record['trials'] * record['repeats']} ended"]
        parts += [f"{counts[name]} {name.replace('_', ' ')}" for name in ("stopped_early", "failed", "cancelled") if counts[name]]
        if best:
            parts.append(f"best {record['metric']} {best['value']:.6g} of trial {best['trial']}")
        return ", ".join(parts)

    @property
    def runs(self) -> Runs:
        """Its runs, newest first."""
        return Runs(self._connection, self.record["project_id"], f"sweep = '{self.id}'", None, None)

    def refresh(self) -> Sweep:
        """Read it again, and return it."""
        self.record = self._connection.request("GET", self.path)
        return self

    def wait(self, *, check: bool = True, quiet: bool = False) -> Sweep:
        """Wait until it has ended or paused, and return it. Its progress is printed, or shown in the notebook.

        An interrupt ends the waiting, not the sweep.

        :raises Error: if it is not complete then, unless ``check`` is false
        """
        from .follow import follow_sweep

        follow_sweep(self._connection, self, quiet=quiet)
        if check and self.status != "COMPLETED":
            reason = self.record["status_reason"]
            raise Error(f"The sweep {self.record['name']} is {self.status}{f': {reason}' if reason else ''} ({self.url})")
        return self

    def cancel(self) -> Sweep:
        """Begin no further trial, and cancel those that run."""
        self._connection.request("POST", f"{self.path}/cancel")
        return self.refresh()

    def __repr__(self) -> str:
        return f"<mps.Sweep {self.record['name']} {self.id}: {self.progress}>"

    def _repr_html_(self) -> str:
        best = self.record["best"]
        params: dict[str, Any] = dict(best["params"]) if best else {}
        rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(str(value))}</td></tr>" for name, value in params.items())
        link = f"<a href='{escape(self.url)}' target='_blank' rel='noopener'>{escape(self.record['name'])}</a>"
        return f"<div><strong>{link}</strong> {escape(self.progress)}<table>{rows}</table></div>"
