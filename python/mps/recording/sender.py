"""Sends records from disk to the service. Each step may be repeated, so a kill or an outage loses and doubles nothing."""

from __future__ import annotations

import mimetypes
import os
import platform
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ..error import Error
from ..login import chosen_login
from .journal import RECORDS, RUN_TAG, Journal, Leftover, head_of, lines_from, read_sent, runs_in, write_sent
from .values import path_fault

if TYPE_CHECKING:
    from ..connection import Connection

# Limits of the service for one request.
_MAX_POINTS = 1000
_MAX_PAIRS = 100
# Larger files go to storage in parts.
_MAX_WHOLE = 4_000_000
_MIN_PART = 16 * 1024 * 1024
_MAX_PARTS = 3000


Say = Callable[[str], object]

_stored = re.compile("files/[0-9a-f]{16}")


class Sender:
    """Sends a journal from a thread of its own, and then what earlier processes have left beside it."""

    # Seconds between two looks at the file, and at most between two tries of a service that is away.
    pause = 1.0
    max_pause = 30.0

    def __init__(self, journal: Journal, say: Say) -> None:
        self._journal, self._say = journal, say
        self._own: Upload | None = None
        self._is_connected = False
        self._wake = threading.Event()
        self._ending = False
        self._leftovers: list[Path] | None = None
        self._thread = threading.Thread(target=self._work, name="mps", daemon=True)
        self.progress = 0
        self._thread.start()

    def end(self, patience: float = 45.0) -> bool:
        """Send the rest. Wait as long as something moves. Return whether the service has all."""
        self._ending = True
        self._wake.set()
        before = -1
        while self._thread.is_alive() and before != self.progress:
            before = self.progress
            self._thread.join(patience)
        return self._own is not None and self._own.is_done

    def _work(self) -> None:
        wait, tries = self.pause / 10, 3
        while True:
            self._wake.wait(wait)
            is_last = self._ending
            try:
                wait = 0.0 if self._pass() else self.pause
            except Exception as fault:  # The program must go on, whatever is wrong here.
                self._say(f"the service has not got the records yet: {fault if isinstance(fault, Error) else repr(fault)}")
                wait = min(self.max_pause, max(1.0, wait * 2))
                self._is_connected = False
                # One lost answer at the end is no outage.
                tries -= is_last
                if is_last and tries and self._own is not None and self._own.is_begun:
                    time.sleep(self.pause)
                    continue
            if is_last:
                return

    def _pass(self) -> bool:
        """Send what is new. Return whether runs of earlier processes are left to be sent."""
        if self._own is None:
            self._own = Upload(self._journal.folder, _connection(), self._say, is_leftover=False)
            self._own.moved = self._moved
        elif not self._is_connected:
            # A person may have signed in since.
            self._own.connection = _connection()
        self._is_connected = True
        if not self._own.is_done:
            self._own.send()
            self._own.is_done = self._own.is_ended and self._journal.remove(self._own.offset)
        return not self._ending and self._send_leftover(self._own.connection)

    def _send_leftover(self, connection: Connection) -> bool:
        """Send one run that an earlier process has left. Return whether there are more."""
        if self._leftovers is None:
            self._leftovers = [one for one in runs_in(self._journal.folder.parent) if one != self._journal.folder]
        if not self._leftovers:
            return False
        folder = self._leftovers.pop(0)
        try:
            left = Leftover(folder)
        except OSError:
            return True
        try:
            upload = Upload(folder, connection, self._say, is_leftover=True)
            if not upload.is_from_here:
                self._say(f'{folder} is of another machine, person or service: "mps import --from offline" sends it.')
                return True
            upload.stops = lambda: self._ending
            upload.send()
            if self._ending:
                return False
            upload.end_killed()
            left.remove()
            self._say(f"the run {upload.title} of an earlier program is sent.")
        except FileNotFoundError:
            # Another program has sent it meanwhile.
            pass
        except Exception as fault:
            if self._ending:
                return False
            if isinstance(fault, Error) and fault.status in (None, 429, 502, 503, 504):
                self._leftovers.append(folder)
                raise
            self._say(f"{folder} stays: {fault if isinstance(fault, Error) else repr(fault)}")
        finally:
            left.close()
        return True

    def _moved(self) -> None:
        self.progress += 1


def _connection() -> Connection:
    """Return a connection without patience: who sends tries again, and a person may have signed in since."""
    from ..connection import Connection

    login = chosen_login()
    return Connection(login.url, login.token, job=login.job, timeout=30.0, patience=0.0)


class Upload:
    """Brings the records of one run to the service."""

    def __init__(self, folder: Path, connection: Connection, say: Say, *, is_leftover: bool) -> None:
        self.folder, self.connection, self._say = folder, connection, say
        sent = read_sent(folder)
        self._is_leftover = is_leftover
        self._run_id: str | None = sent.get("run_id")
        self._root: str = str(sent.get("root", ""))
        self._end: dict[str, Any] | None = sent.get("end")
        self.offset = int(sent.get("offset", 0)) if self._run_id else 0
        try:
            self._head = head_of(folder)
        except ValueError:
            raise Error("its first line is not that of this version of mps.", status=400) from None
        self._refused: set[str] = set()
        self.is_ended = self.is_done = False
        self.moved: Callable[[], None] = lambda: None
        self.stops: Callable[[], bool] = lambda: False

    @property
    def title(self) -> str:
        return str(self._head.get("name") or self._head["id"])

    @property
    def is_begun(self) -> bool:
        """Whether the service knows the run."""
        return self._run_id is not None

    @property
    def is_from_here(self) -> bool:
        """Whether this person began the run on this machine, for this service: the folder may have come with a repository."""
        own = (platform.node(), user_name())
        found = (self._head.get("host"), self._head.get("user"))
        return found == own and self._head.get("service") in (None, self.connection.url)

    def send(self) -> None:
        """Send what the file has now. :raises Error: if the service does not take it now"""
        self._begin()
        batch = _Batch()
        offset = self.offset
        for record, offset in lines_from(self.folder, self.offset):
            if batch.add(record):
                self._send(batch, offset)
                batch = _Batch()
            if "file" in record:
                self._send(batch, self.offset)
                batch = _Batch()
                self._send_file(record["file"])
                self._note(offset)
            if "end" in record:
                self._end = record
            if self.stops():
                break
        if offset > self.offset:
            self._send(batch, offset)
        if self._end is not None and not self.is_ended:
            self._finish(str(self._end["end"]), int(self._end["at"]))

    def end_killed(self) -> None:
        """End a run whose process was killed before it said how it ended."""
        if not self.is_ended:
            self._finish("FAILED", int((self.folder / RECORDS).stat().st_mtime * 1000))

    def _finish(self, status: str, at: int) -> None:
        self._call("POST", "runs/update", json={"run_id": self._run_id, "status": status, "end_time": at})
        self.is_ended = True

    def _begin(self) -> None:
        """Find the run on the service, or begin it."""
        if self._run_id:
            return
        experiment = self._experiment()
        # An answer may have been lost, and `mps import` may have begun it while the service was away from here.
        found = self._find(experiment)
        is_new = found is None
        if found is None:
            tags = [{"key": RUN_TAG, "value": self._head["id"]}]
            sent = {"experiment_id": experiment, "start_time": self._head["at"], "user_id": self._head.get("user") or "", "tags": tags}
            name = self._head.get("name")
            found = self._call("POST", "runs/create", json={**sent, **({"run_name": name} if name else {})}, repeatable=False)["run"]
        info = found["info"]
        self._run_id = str(info["run_id"])
        self._root = str(info["artifact_uri"]).replace("mlflow-artifacts:/", "", 1).lstrip("/")
        self._note(0)
        if is_new and not self._is_leftover:
            project, _, experiment_id = self._run_id.partition("-")
            self._say(f"this run is {self.connection.url}/console#/projects/{project}/experiments/{experiment_id}")

    def _experiment(self) -> str:
        """Return the id of the project. Make it if there is none of this name."""
        name = str(self._head.get("project"))
        wanted = [("experiments/get-by-name", {"experiment_name": name})]
        if len(name) == 26 and name.isalnum():
            wanted.insert(0, ("experiments/get", {"experiment_id": name}))
        for path, query in wanted:
            try:
                experiment = self._call("GET", path, query=query)["experiment"]
            except Error as error:
                if error.status != 404:
                    raise
                continue
            if experiment.get("lifecycle_stage") == "deleted":
                raise Error(f"the project {name} is deleted: restore it, or remove {self.folder}.", status=409)
            return str(experiment["experiment_id"])
        return str(self._call("POST", "experiments/create", json={"name": name}, repeatable=False)["experiment_id"])

    def _find(self, experiment: str) -> Any:
        wanted = f"tags.\"{RUN_TAG}\" = '{self._head['id']}'"
        sent = {"experiment_ids": [experiment], "filter": wanted, "max_results": 1, "run_view_type": "ALL"}
        runs = self._call("POST", "runs/search", json=sent).get("runs")
        return runs[0] if runs else None

    def _note(self, offset: int) -> None:
        self.offset = offset
        write_sent(self.folder, {"run_id": self._run_id, "root": self._root, "offset": offset, "end": self._end})
        self.moved()

    def _send(self, batch: _Batch, offset: int) -> None:
        for name in batch.removed_tags:
            try:
                self._call("POST", "runs/delete-tag", json={"run_id": self._run_id, "key": name})
            except Error as error:
                if error.status != 404:
                    raise
        pairs = [("param", batch.params, _MAX_PAIRS), ("tag", batch.tags, _MAX_PAIRS)]
        for kind, values, most in pairs:
            rows = [{"key": key, "value": value} for key, value in values.items()]
            for start in range(0, len(rows), most):
                self._log(kind, rows[start : start + most])
        for start in range(0, len(batch.points), _MAX_POINTS):
            self._log("metric", [one for one in batch.points[start : start + _MAX_POINTS] if one["key"] not in self._refused])
        self._note(offset)

    def _log(self, kind: str, rows: list[dict[str, Any]]) -> None:
        """Log rows of one kind. What the service refuses is said, by its name, and the others are kept."""
        if not rows:
            return
        try:
            self._call("POST", "runs/log-batch", json={"run_id": self._run_id, f"{kind}s": rows})
        except Error as error:
            # Nothing can be logged to a run that is marked as deleted, and it may be restored.
            if error.status not in (400, 409, 413) or "'active' state" in str(error):
                raise
            names = list(dict.fromkeys(str(one["key"]) for one in rows))
            if len(names) > 1:
                for half in (names[: len(names) // 2], names[len(names) // 2 :]):
                    chosen = set(half)
                    self._log(kind, [one for one in rows if one["key"] in chosen])
                return
            self._say(f"the {kind} {names[0]} is not recorded: {error}")
            if kind == "metric":
                self._refused.add(names[0])

    def _send_file(self, file: Any) -> None:
        path, stored = str(file["path"]), str(file["stored"])
        source = self.folder / stored
        # The records of somebody else must not bring other files of this machine, nor to another run.
        if path_fault(path) or not _stored.fullmatch(stored) or source.is_symlink() or source.parent.is_symlink() or not source.is_file():
            return
        folder, _, name = f"{self._root}/{path}".rpartition("/")
        size = source.stat().st_size
        try:
            with open(source, "rb") as content:
                if size <= _MAX_WHOLE:
                    location = f"mlflow-artifacts/artifacts/{quote(folder)}/{quote(name)}"
                    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
                    self.connection.mlflow("PUT", location, body=content, headers={"Content-Type": kind})
                else:
                    self._send_parts(folder, name, content, size)
        except Error as error:
            if error.status not in (400, 409, 413):
                raise
            self._say(f"the file {path} is not recorded: {error}")
        self.moved()

    def _send_parts(self, folder: str, name: str, content: Any, size: int) -> None:
        from ..connection import exchange, reason

        part = max(_MIN_PART, -(-size // _MAX_PARTS))
        place = f"mpu/create/{quote(folder)}"
        begun = self.connection.mlflow("POST", f"mlflow-artifacts/{place}", json={"path": name, "num_parts": -(-size // part)})
        parts = []
        for one in begun["credentials"]:
            if self.stops():
                raise Error("the program ends.", status=503)
            try:
                exchange("PUT", one["url"], {}, content.read(part)).close()
            except OSError as fault:
                raise Error(f"storage does not answer: {reason(fault)}.") from fault
            parts.append({"part_number": one["part_number"]})
            self.moved()
        done = {"path": name, "upload_id": begun["upload_id"], "parts": parts}
        self.connection.mlflow("POST", f"mlflow-artifacts/mpu/complete/{quote(folder)}", json=done)

    def _call(self, method: str, path: str, **call: Any) -> Any:
        return self.connection.mlflow(method, f"mlflow/{path}", **call)


class _Batch:
    """Records that go together."""

    def __init__(self) -> None:
        self.points: list[dict[str, Any]] = []
        self.params: dict[str, str] = {}
        self.tags: dict[str, str] = {}
        self.removed_tags: set[str] = set()

    def add(self, record: dict[str, Any]) -> bool:
        """Add a line. Return whether the batch is full."""
        at, step = record.get("at"), record.get("step")
        for key, value in _pairs(record, "metrics"):
            self.points.append({"key": key, "value": value, "timestamp": at, "step": step})
        for key, value in _pairs(record, "params"):
            self.params.setdefault(key, value)
        for key, value in _pairs(record, "tags"):
            self.tags.pop(key, None)
            self.removed_tags.discard(key)
            if value is None:
                self.removed_tags.add(key)
            else:
                self.tags[key] = value
        return len(self.points) >= _MAX_POINTS or len(self.params) + len(self.tags) >= _MAX_PAIRS


def _pairs(record: dict[str, Any], field: str) -> list[tuple[str, Any]]:
    found = record.get(field)
    return list(found.items()) if isinstance(found, dict) else []


def user_name() -> str:
    """Name of the person whose program this is, as the machine knows it."""
    try:
        import getpass

        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return str(os.getpid())
