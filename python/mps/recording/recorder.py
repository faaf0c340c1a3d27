"""`mps.record`: what a program logs, as an experiment of a project, or of the job that the program is."""

from __future__ import annotations

import atexit
import json
import os
import platform
import shutil
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ..login import chosen_login, home, in_job, job_login
from .journal import OWN_TAGS, Journal, line_of
from .values import flattened, kind_of, listed, name_fault, path_fault, shown, text_of, whole_step

if TYPE_CHECKING:
    from ..connection import Connection
    from .sender import Sender


def record(
    project: str | None = None,
    *,
    params: Any = None,
    name: str | None = None,
    tags: Mapping[str, object] | Iterable[str] | None = None,
    offline: bool = False,
) -> Recorder:
    """Begin to record a run, and return what logs to it.

    On a machine of one's own the run becomes an experiment of the project, which is made if there is none; without a name it is
    that of the folder. In a job of the service it is the experiment of the job. Of several processes of one training (``RANK``)
    only the first records.

    Nothing here raises, waits for the network or ends a training: a fault is a sentence on stderr, and the training goes on. What
    is logged is in a file below ``.mps/offline`` at once; a thread sends it within about a second, and again after an outage.

    :param params: a dict, a dict of dicts, a Namespace or a dataclass
    :param tags: texts by name, or names alone
    :param offline: keep the records on disk; the next ``mps.record`` in this folder or ``mps import --from offline`` sends them
    """
    recorder = Recorder(project, name=name, offline=offline)
    if params is not None:
        recorder.params(params)
    if isinstance(tags, Mapping):
        for key, value in tags.items():
            recorder.tag(key, value)
    else:
        for one in [tags] if isinstance(tags, str) else listed(tags):
            recorder.tag(one)
    return recorder


class Recorder:
    """Logs to one run. Threads may log, and processes that are forked. Use it in ``with``, or call :meth:`finish`; else the run
    ends with the program."""

    def __init__(self, project: str | None, *, name: str | None, offline: bool) -> None:
        self._said: set[str] = set()
        self._names: dict[str, str | None] = {}
        self._step = 0
        self._ended = False
        self._journal: Journal | None = None
        self._job: _Job | None = None
        self._sender: Sender | None = None
        # Names of metrics that METRICS_FILE takes are shorter.
        self._longest = 250
        if os.environ.get("RANK") not in (None, "", "0"):
            self._say(f"rank {os.environ['RANK']} records nothing: rank 0 does.")
        elif in_job():
            try:
                self._job, self._longest = _Job(self._say), 128
            except OSError as fault:
                self._say(f"METRICS_FILE takes no records: {fault.strerror}.")
            if self._job is not None and name:
                self.tag("mlflow.runName", name)
        else:
            self._journal = self._begin(project, name)
            if self._journal is not None and not offline:
                from .sender import Sender

                self._sender = Sender(self._journal, self._say)
        _open.add(self)

    def _begin(self, project: str | None, name: str | None) -> Journal | None:
        from .sender import user_name

        try:
            address: str | None = chosen_login().url
        except Exception:
            address = os.environ.get("MPS_URL") or None
        run = os.urandom(16).hex()
        title = text_of(name)[:250] if name else None
        here = _here()
        own = {"id": run, "project": text_of(project or here.name or "root"), "name": title, "user": user_name(), "service": address}
        head = {**own, "host": platform.node(), "pid": os.getpid(), "at": _now()}
        for folder in dict.fromkeys((here, home())):
            if folder is None:
                continue
            top = folder / ".mps"
            try:
                journal = Journal(top / "offline" / run, head)
                _ignore(top)
                return journal
            except OSError as fault:
                self._say(f"{top} takes no records: {fault.strerror}.")
        self._say("this run is not recorded.")
        return None

    def log(self, metrics: Mapping[str, object] | None = None, /, *, step: object = None, **more: object) -> bool:
        """Log numbers of one step: ``log(loss=0.1, step=3)``, or ``log({"val/loss": 0.2})`` for other names.

        Without ``step`` it is one more than that of the last call, from 0 on. Values are numbers, or what has one as ``item()``:
        scalars of NumPy, PyTorch and others. Takes about ten microseconds.

        :returns: whether all of it is on disk, and so is not lost any more
        """
        if metrics is not None and not isinstance(metrics, Mapping):
            return self._say(f"{shown(metrics)} has no name: log(loss=0.1) or log({{'val/loss': 0.1}}).")
        given = more if not metrics else {**metrics, **more}
        at = time.time_ns() // 1_000_000
        try:
            whole = self._step if step is None else whole_step(step)
        except Exception:
            return self._say(f"the step {shown(step)} is no whole number between -2^53 and 2^53: its metrics are left out.")
        parts = []
        for name, value in given.items():
            quoted = self._names.get(name) if type(name) is str else None
            if quoted is None:
                quoted = self._quoted(name)
                if quoted is None:
                    continue
            number = repr(value) if type(value) is float and value - value == 0.0 else self._number(name, value)
            if number is not None:
                parts.append(f"{quoted}:{number}")
        self._step = whole + 1
        if not parts:
            return not given
        text = f'{{"at":{at},"step":{whole},"metrics":{{{",".join(parts)}}}}}\n'.encode("ascii")
        return self._append(text, at) and len(parts) == len(given)

    def param(self, name: str, value: object) -> bool:
        """Log one param, once: a service keeps the first value."""
        return self.params({name: value})

    def params(self, params: Any) -> bool:
        """Log params: a dict, a dict of dicts, whose names are joined by dots, a Namespace or a dataclass."""
        try:
            given = flattened(params if isinstance(params, Mapping) else vars(params))
        except Exception:
            return self._say(f"{type(params).__name__} is no params: give a dict, a Namespace or a dataclass.")
        kept = {key: text_of(value)[:6000] for key, value in given.items() if self._quoted(key) is not None}
        return self._fields("params", kept) and len(kept) == len(given)

    def tag(self, name: str, value: object = "true") -> bool:
        """Set a tag; ``None`` removes it. The tag ``mlflow.note.content`` is the note of the run, in Markdown."""
        if self._quoted(name) is None:
            return False
        if name in OWN_TAGS:
            return self._say(f"the tag {name} is left out: records are found by it.")
        return self._fields("tags", {name: None if value is None else text_of(value)[:8000]})

    def image(self, name: str, picture: Any, step: object = None) -> bool:
        """Log a picture of a step: a file, a figure of Matplotlib, a picture of Pillow, an array or a tensor
        (:func:`mps.recording.media.picture`). Without ``step`` it is that of the last metrics."""
        from .media import picture as read

        return self._media("images", name, step, lambda: read(picture))

    def table(self, name: str, data: Any, step: object = None, *, columns: Iterable[Any] | None = None) -> bool:
        """Log a table as CSV: a DataFrame, a dict of columns, rows that are dicts, or rows with ``columns``."""
        from .media import table_text

        return self._media("tables", name, step, lambda: (table_text(data, columns), ".csv"))

    def file(self, path: str | os.PathLike[str], to: str | None = None) -> bool:
        """Log a copy of a file, or of a folder with all its files, as artifacts. ``to`` is the path in the run."""
        try:
            source = Path(path)
            target = to or source.name
            if source.is_file():
                return self._file(target, source)
            if not source.is_dir():
                return self._say(f"the file {source} is not recorded: there is none.")
            found = [one for one in source.rglob("*") if one.is_file()]
        except (TypeError, OSError) as fault:
            return self._say(f"the file {shown(path)} is not recorded: {fault}.")
        return all([self._file(f"{target}/{one.relative_to(source).as_posix()}", one) for one in found])

    def finish(self, status: str = "FINISHED") -> None:
        """End the run, and wait until the service has it. ``status`` is FINISHED, FAILED or KILLED.

        If the service is away, the records stay on disk and come later. In a job the status is that of the job.
        """
        journal = self._journal
        if self._ended or (journal is not None and not journal.is_own):
            return
        self._ended = True
        _open.discard(self)
        if journal is None:
            return
        try:
            journal.append(line_of({"at": _now(), "end": status}))
        except OSError:
            pass
        try:
            if self._sender is None or not self._sender.end():
                command = f"mps import --from offline {journal.folder.parent}"
                self._say(f'the records are in {journal.folder}: the next mps.record here sends them, or "{command}".')
        finally:
            journal.close()

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        ends = "FINISHED" if kind is None else "KILLED" if issubclass(kind, KeyboardInterrupt) else "FAILED"
        # A program may end itself in the middle of a block.
        if isinstance(error, SystemExit) and error.code in (None, 0):
            ends = "FINISHED"
        self.finish(ends)

    def _append(self, line: bytes, at: int) -> bool:
        if self._ended:
            return self._say("the run has ended: what is logged now is not recorded.")
        try:
            if self._job is not None:
                self._job.log(line)
            elif self._journal is not None:
                self._journal.append(line)
            else:
                return False
            return True
        except OSError as fault:
            return self._say(f"the disk takes no records, which are lost until it does: {fault.strerror}.")

    def _fields(self, kind: str, values: dict[str, Any]) -> bool:
        if not values:
            return True
        if self._job is not None:
            return self._job.fields(kind, values)
        return self._append(line_of({"at": _now(), kind: values}), 0)

    def _media(self, folder: str, name: str, step: object, read: Any) -> bool:
        if self._quoted(name) is None:
            return False
        try:
            whole = (self._step - 1 if self._step > 0 else None) if step is None else whole_step(step)
            content, ending = read()
        except Exception as fault:
            return self._say(f"{folder[:-1]} {name} is not recorded: {fault}.")
        return self._file(f"{folder}/{name}{'' if whole is None else f'_step_{whole}'}{ending}", content)

    def _file(self, path: str, source: Path | bytes) -> bool:
        fault = path_fault(path)
        if fault:
            return self._say(f"the file {path!r} is not recorded: {fault}.")
        if self._ended:
            return self._append(b"", 0)
        try:
            if self._job is not None:
                self._job.file(path, source)
                return True
            if self._journal is None:
                return False
            stored, size = self._journal.add_file(source)
        except OSError as error:
            return self._say(f"the file {path} is not recorded: {error.strerror}.")
        return self._append(line_of({"at": _now(), "file": {"path": path, "stored": stored, "size": size}}), 0)

    def _quoted(self, name: object) -> str | None:
        """Return a name as JSON; None for one that the service refuses."""
        if isinstance(name, str) and name in self._names:
            return self._names[name]
        fault = name_fault(name, self._longest)
        if fault:
            self._say(f"the name {shown(name)} is left out: {fault}.")
        if not isinstance(name, str):
            return None
        quoted = None if fault else json.dumps(name)
        if len(self._names) < 10_000:
            self._names[name] = quoted
        return quoted

    def _number(self, name: str, value: Any) -> str | None:
        """Return a value as JSON: a number, or the text of one that JSON has not."""
        try:
            if not isinstance(value, (int, float)):
                value = value.item() if hasattr(value, "item") else value
                if isinstance(value, (str, bytes, complex)) or not hasattr(value, "__float__"):
                    raise TypeError
            number = float(value)
        except OverflowError:
            self._say(f"{name} is left out: {shown(value)} is beyond the largest number of 64 bits.")
            return None
        except Exception:
            self._say(f"{name} is left out: {kind_of(value)} is not one number.")
            return None
        if number != number:
            return '"NaN"'
        if number in (float("inf"), float("-inf")):
            return '"Infinity"' if number > 0 else '"-Infinity"'
        return repr(number)

    def _say(self, text: str) -> bool:
        """Say a fault once. Return False, for those who log."""
        if text and text not in self._said and len(self._said) < 100:
            self._said.add(text)
            try:
                print(f"mps: {' '.join(text.split())}", file=sys.stderr, flush=True)
            except (OSError, ValueError):
                pass
        return False


class _Job:
    """The experiment of the job that this program is. The supervisor reads its files, also after a kill of the program."""

    def __init__(self, say: Any) -> None:
        self._say = say
        self._metrics = os.open(os.environ["METRICS_FILE"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._output = Path(os.environ.get("OUTPUT_DIR", "."))
        self._connection: Connection | None = None

    def log(self, line: bytes) -> None:
        read = json.loads(line)
        numbers = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}
        when = {"step": read["step"], "time": read["at"] / 1000}
        rows = [{"name": name, "value": numbers.get(value, value), **when} for name, value in read["metrics"].items()]
        text = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
        if os.write(self._metrics, text) != len(text):
            raise OSError(28, "the disk is full")

    def fields(self, kind: str, values: dict[str, Any]) -> bool:
        from ..error import Error

        login = job_login()
        if login is None:
            return bool(self._say(f"{kind} are not recorded: this job has no server that takes them."))
        try:
            if self._connection is None:
                from ..connection import Connection

                self._connection = Connection(login.url, login.token, job=True)
            run = os.environ["MLFLOW_RUN_ID"]
            rows = [{"key": key, "value": value} for key, value in values.items() if value is not None]
            for start in range(0, len(rows), 100):
                self._connection.mlflow("POST", "mlflow/runs/log-batch", json={"run_id": run, kind: rows[start : start + 100]})
            for key in (one for one, value in values.items() if value is None):
                self._connection.mlflow("POST", "mlflow/runs/delete-tag", json={"run_id": run, "key": key})
            return True
        except (Error, KeyError) as error:
            return bool(self._say(f"{', '.join(list(values)[:5])}: not recorded: {error}"))

    def file(self, path: str, source: Path | bytes) -> None:
        target = self._output / path
        target.parent.mkdir(parents=True, exist_ok=True)
        unfinished = target.parent / f".{os.urandom(8).hex()}"
        try:
            if isinstance(source, bytes):
                unfinished.write_bytes(source)
            else:
                shutil.copyfile(source, unfinished)
            os.replace(unfinished, target)
        finally:
            unfinished.unlink(missing_ok=True)


def _here() -> Path:
    try:
        return Path.cwd()
    except OSError:
        # Somebody has removed it.
        return home() or Path(".")


def _now() -> int:
    return time.time_ns() // 1_000_000


def _ignore(top: Path) -> None:
    """Keep records out of repositories and sources."""
    try:
        with open(top / ".gitignore", "x") as file:
            file.write("*\n")
    except OSError:
        pass


_open: set[Recorder] = set()


def _finish_all() -> None:
    """End what is open at the end of the program. Python keeps the exception that ended it."""
    is_fault = getattr(sys, "last_value", None) is not None and not hasattr(sys, "ps1")
    for recorder in list(_open):
        recorder.finish("FAILED" if is_fault else "FINISHED")


atexit.register(_finish_all)
