"""A run: an experiment of the service."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

from .error import Error
from .points import Points

if TYPE_CHECKING:
    import os

    from . import models
    from .connection import Connection

_ended = ("SUCCEEDED", "FAILED", "CANCELLED")


class Run:
    """An experiment as it was read: a training of the service, or what a program recorded. :meth:`refresh` reads it again.

    ``record`` has all that the service says of it.
    """

    def __init__(self, connection: Connection, record: models.Experiment) -> None:
        self._connection = connection
        self.record = record

    @property
    def id(self) -> str:
        return self.record["experiment_id"]

    @property
    def name(self) -> str:
        return self.record["name"]

    @property
    def status(self) -> str:
        """CREATED, SUBMITTED, PENDING, RUNNABLE, STARTING, RUNNING, or how it ended: SUCCEEDED, FAILED, CANCELLED."""
        return self.record["status"]

    @property
    def params(self) -> dict[str, str]:
        """Its params, as texts."""
        return self.record["params"]

    @property
    def tags(self) -> dict[str, str]:
        return self.record["tags"]

    @property
    def url(self) -> str:
        """Its page in the console."""
        return f"{self._connection.url}/console#/projects/{self.record['project_id']}/experiments/{self.id}"

    @property
    def path(self) -> str:
        """Its path in the API, for ``service.request``."""
        return f"/projects/{self.record['project_id']}/experiments/{self.id}"

    def refresh(self) -> Run:
        """Read it again, and return it."""
        self.record = self._connection.request("GET", self.path)
        return self

    def metrics(self, *names: str, points: int | None = None, step_from: float | None = None, step_to: float | None = None) -> Points:
        """Return the points of these metrics, or of all but the machine's (``system/…``).

        ``points``, from 6 to 10,000, reduces each metric to so many, its extremes among them. ``step_from`` and ``step_to`` are the
        lowest and greatest step.

        :raises Error: for a metric that the run does not have
        """
        query = {"name": list(names), "points": points, "step_from": step_from, "step_to": step_to}
        # A run that goes on always has a next page: the first empty one is the end of what is there.
        found = Points(self._connection.rows(f"{self.path}/metrics", query=query, to_empty=True))
        missing = [name for name in names if not any(point.name == name for point in found)]
        if missing and step_from is None and step_to is None:
            known = sorted(self.record["metrics"])
            raise Error(f"{self.name} has no metric {', '.join(missing)}. It has: {', '.join(known) or 'none'}.")
        return found

    def logs(self) -> Iterator[str]:
        """Yield the lines of its log, those of the main node of a cluster."""
        for line in self._connection.rows(f"{self.path}/logs", to_empty=True):
            yield str(line["message"])

    def artifacts(self, *, checkpoints: bool = False) -> list[models.Artifact]:
        """Return path, size in bytes, SHA-256 and media type of each of its files, by path."""
        query = {"kind": "checkpoint" if checkpoints else "artifact", "limit": 1000}
        return list(self._connection.rows(f"{self.path}/artifacts", query=query))

    def pull(self, path: str = "", to: str | os.PathLike[str] | None = None, *, checkpoints: bool = False, force: bool = False) -> Path:
        """Download a file or folder, or all files, and return where it is.

        They go below ``to``, by default a folder named by the id of the run, with their paths in the run. Sizes and SHA-256 are checked.
        A file that is there with the same content is not downloaded again; one with other content is replaced only with ``force``.

        :raises Error: if the run has no such file, before anything is replaced, and if a download is not what the service announced
        """
        from .download import pull

        folder = Path(to if to is not None else Path(self.id, "checkpoints") if checkpoints else self.id)
        return pull(self._connection, self, path, folder, checkpoints=checkpoints, force=force)

    def wait(self, *, check: bool = True, quiet: bool = False) -> Run:
        """Wait until it has ended, and return it. Its log is printed as it comes; a notebook shows its state and curves, too.

        An interrupt ends the waiting, not the run. While the service cannot be reached, it goes on trying.

        :raises RunError: if it did not succeed, unless ``check`` is false
        """
        from .follow import follow

        follow(self._connection, self, quiet=quiet)
        if check and self.status != "SUCCEEDED":
            raise RunError(self)
        return self

    def cancel(self) -> Run:
        """End it. Its checkpoints are kept."""
        self.record = self._connection.request("POST", f"{self.path}/cancel")
        return self

    def rerun(self, *, params: Mapping[str, Any] | None = None, wait: bool = False, check: bool = True, **options: Any) -> Run:
        """Begin a run with the source, data, environment and configuration of this one, and return it.

        ``params`` change single values of the configuration by their paths, such as ``{"optimizer.lr": 0.003}``, and flags, such as
        ``{"--lr": 0.4}``. ``options`` are those of ``POST …/rerun``, such as ``command``, ``gpus``, ``memory`` (MiB), ``timeout``
        (seconds), ``budget`` (US$), ``name`` and ``fresh``. The other arguments are those of :meth:`mps.Service.run`.
        """
        from .start import json_values

        query = {**options, **({"overrides": json_values(params)} if params else {})}
        if "tags" in options:
            query["tags"] = json_values(options["tags"])
        begun = Run(self._connection, self._connection.request("POST", f"{self.path}/rerun", query=query))
        return begun.wait(check=check) if wait else begun

    def register(self, model: str, path: str = "model.onnx") -> models.Model:
        """Make an artifact a model of the service under a name, with the external data next to it."""
        query = {"experiment_id": self.id, "path": path}
        ticket = self._connection.request("POST", f"/optimization/models/{quote(model, safe='')}", query=query)
        return cast("models.Model", ticket["model"])

    def __repr__(self) -> str:
        return f"<mps.Run {self.name} {self.status} {self.id}>"

    def _repr_html_(self) -> str:
        record = self.record
        facts = [("status", state_text(record)), ("created", record["created_at"])]
        if record["duration"] is not None:
            facts.append(("time", f"{record['duration']:.0f} s"))
        if record["cost"] is not None:
            facts.append(("cost", f"US$ {record['cost']:.4f}"))
        facts += [(name, value) for name, value in list(self.params.items())[:20]]
        facts += [(name, f"{float(one['last']):.6g}") for name, one in list(record["metrics"].items())[:8]]
        rows = "".join(f"<tr><th style='text-align:left'>{escape(name)}</th><td>{escape(str(value))}</td></tr>" for name, value in facts)
        link = f"<a href='{escape(self.url)}' target='_blank' rel='noopener'>{escape(self.name)}</a>"
        return f"<div><strong>{link}</strong><table>{rows}</table>{self._curve()}</div>"

    def _curve(self) -> str:
        """The chart that the service draws of its metrics, as a picture: nothing in it can run."""
        names = list(self.record["metrics"])[:4]
        if not names:
            return ""
        try:
            with self._connection.open("GET", f"{self.path}/metrics", query={"name": names}, headers={"Accept": "image/svg+xml"}) as answer:
                chart = base64.b64encode(answer.read()).decode()
        except (Error, OSError):
            return ""
        return f"<img alt='{escape('Curves of ' + ', '.join(names))}' src='data:image/svg+xml;base64,{chart}' style='max-width:100%'>"


class RunError(Error):
    """A run that did not succeed. ``run`` is that run."""

    def __init__(self, run: Run) -> None:
        super().__init__(f"{run.name} ended {state_text(run.record)} ({run.url})")
        self.run = run


def state_text(record: models.Experiment) -> str:
    """Return the status with its reason."""
    reason = record["status_reason"]
    return f"{record['status']}: {reason}" if reason else record["status"]


def has_ended(record: models.Experiment) -> bool:
    """Whether nothing of a run goes on."""
    return record["status"] in _ended
