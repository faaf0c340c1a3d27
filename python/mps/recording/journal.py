"""Records of a run on disk: what is in the file is not lost. `python/README.md` describes the format."""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
import weakref
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

FORMAT = 1
# Tag of a run with the id of its records, by which `mps import` finds it, too. It writes the other one.
RUN_TAG = "import.run_id"
OWN_TAGS = (RUN_TAG, "import.complete")
RECORDS = "records.ndjson"
_SENT = "sent.json"
# The folder of somebody else may have anything.
_MAX_HEAD = 65_536


class Journal:
    """The folder of one run, as its recorder writes it. Threads may write, and processes forked from the recorder's."""

    def __init__(self, folder: Path, head: Mapping[str, object]) -> None:
        """Make the folder and its first line. :raises OSError: if the disk is full, or nothing may be written there"""
        self.folder = folder
        self._owner = self._process = os.getpid()
        # A handler of a signal may log while its thread does.
        self._mutex = threading.RLock()
        self._torn = False
        folder.mkdir(mode=0o700, parents=True)
        try:
            self._lock = _locked(folder, wait=True)
            self._file = _opened(folder / RECORDS, os.O_CREAT)
            self.append(line_of({"mps": FORMAT, **head}))
        except OSError:
            # A folder without its first line is no run.
            shutil.rmtree(folder, ignore_errors=True)
            raise
        _journals.add(self)

    @property
    def is_own(self) -> bool:
        """Whether this process began the run, and ends it."""
        return os.getpid() == self._owner

    def append(self, line: bytes) -> None:
        """Write one line, which is kept once this returns.

        :raises OSError: if the disk is full, or if the run has ended and this is a process that it has forked
        """
        with self._mutex:
            if self._process == self._owner:
                self._write(line)
                return
            if sys.platform != "win32":
                # The owner takes this lock to remove the file.
                fcntl.flock(self._file, fcntl.LOCK_SH)
                try:
                    if os.fstat(self._file).st_nlink == 0:
                        raise FileNotFoundError(2, "the process that began the run has ended it")
                    self._write(line)
                finally:
                    fcntl.flock(self._file, fcntl.LOCK_UN)

    def _write(self, line: bytes) -> None:
        text = b"\n" + line if self._torn else line
        # One call for a line: lines of threads and processes do not mix.
        count = os.write(self._file, text)
        self._torn = count != len(text)
        if self._torn:
            raise OSError(28, "the disk is full")

    def add_file(self, source: Path | bytes) -> tuple[str, int]:
        """Copy a file into the folder. Return its path in the folder, and its bytes. :raises OSError:"""
        stored = f"files/{os.urandom(8).hex()}"
        target = self.folder / stored
        target.parent.mkdir(exist_ok=True)
        try:
            if isinstance(source, bytes):
                target.write_bytes(source)
            else:
                shutil.copyfile(source, target)
        except OSError:
            target.unlink(missing_ok=True)
            raise
        return stored, target.stat().st_size

    def remove(self, read: int) -> bool:
        """Remove the folder if its records have no more than these bytes. Return whether it is gone."""
        with self._mutex:
            return _remove(self.folder, read)

    def close(self) -> None:
        """Let other processes send what is left."""
        with self._mutex:
            if self.is_own:
                os.close(self._lock)
                os.close(self._file)
                _journals.discard(self)

    def forked(self) -> None:
        """Take a mutex that no thread of this process holds, and a file whose locks are not those of the parent."""
        self._mutex = threading.RLock()
        self._process = os.getpid()
        try:
            self._file = _opened(self.folder / RECORDS)
        except OSError:
            pass


_journals: weakref.WeakSet[Journal] = weakref.WeakSet()


def _forked() -> None:
    for journal in list(_journals):
        journal.forked()


if sys.platform != "win32":
    os.register_at_fork(after_in_child=_forked)


class Leftover:
    """The folder of a run whose process has ended, locked against other processes."""

    def __init__(self, folder: Path) -> None:
        """:raises OSError: if a process records or sends it, or it is no run"""
        self.folder = folder
        if not _is_plain(folder / RECORDS):
            raise FileNotFoundError(2, "no records", str(folder))
        self._lock = _locked(folder, wait=False)

    def remove(self) -> None:
        """Remove the folder. Behind its last whole line is at most one that a kill has torn."""
        _remove(self.folder)

    def close(self) -> None:
        os.close(self._lock)


def runs_in(folder: Path) -> list[Path]:
    """Return the folders of runs, the oldest first."""
    try:
        found = [one for one in folder.iterdir() if _is_plain(one / RECORDS)]
        return sorted(found, key=lambda one: (one / RECORDS).stat().st_mtime)
    except OSError:
        return []


def head_of(folder: Path) -> dict[str, Any]:
    """Return the first line. :raises OSError: :raises ValueError: if it is none of this version"""
    with open(folder / RECORDS, "rb") as file:
        try:
            head = json.loads(file.readline(_MAX_HEAD))
        except RecursionError as fault:
            raise ValueError from fault
    if not isinstance(head, dict) or head.get("mps") != FORMAT:
        raise ValueError
    return head


def lines_from(folder: Path, offset: int, most: int = 1_000_000) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield whole lines behind a number of bytes, each with the number of bytes up to its end.

    Lines that are no JSON objects come as blank objects: a kill or a full disk tore them.
    """
    with open(folder / RECORDS, "rb") as file:
        file.seek(offset)
        while True:
            block = file.read(most)
            end = block.rfind(b"\n") + 1
            # A line may be longer than a block.
            while block and not end:
                more = file.read(most)
                if not more:
                    return
                end = len(block) + more.rfind(b"\n") + 1 if b"\n" in more else 0
                block += more
            if not end:
                return
            for line in block[:end].splitlines(keepends=True):
                offset += len(line)
                try:
                    value = json.loads(line)
                except (ValueError, RecursionError):
                    value = {}
                yield (value if isinstance(value, dict) else {}), offset
            file.seek(offset)


def read_sent(folder: Path) -> dict[str, Any]:
    """Return what the service has of a run; blank if nobody has noted it."""
    try:
        # A link may lead to a device without an end.
        if not _is_plain(folder / _SENT):
            return {}
        with open(folder / _SENT, "rb") as file:
            value = json.loads(file.read(_MAX_HEAD))
        return value if isinstance(value, dict) else {}
    except (OSError, ValueError, RecursionError):
        return {}


def write_sent(folder: Path, sent: Mapping[str, object]) -> None:
    """Note what the service has of a run. Without a note it is sent again, which changes nothing."""
    # A name that nobody can have put there as a link.
    unfinished = folder / f"{_SENT}.{os.urandom(8).hex()}"
    try:
        unfinished.write_text(json.dumps(sent))
        os.replace(unfinished, folder / _SENT)
    except OSError:
        pass


def line_of(record: Mapping[str, object]) -> bytes:
    # Texts of a program may have halves of surrogate pairs, which are no UTF-8.
    return json.dumps(record).encode("ascii", "replace") + b"\n"


def _opened(path: Path, more: int = 0) -> int:
    # Neither a link nor a pipe, which would wait for its reader.
    safe = getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    return os.open(path, os.O_WRONLY | os.O_APPEND | safe | more, 0o600)


def _is_plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _locked(folder: Path, *, wait: bool) -> int:
    """Lock a folder. The lock ends with the processes that have it. :raises OSError: if it is locked"""
    lock = _opened(folder / "lock", os.O_CREAT)
    try:
        if sys.platform == "win32":
            msvcrt.locking(lock, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        os.close(lock)
        raise
    return lock


def _remove(folder: Path, read: int | None = None) -> bool:
    records = _opened(folder / RECORDS)
    try:
        if sys.platform != "win32":
            fcntl.flock(records, fcntl.LOCK_EX)
        if read is not None and os.fstat(records).st_size > read:
            return False
        os.unlink(folder / RECORDS)
    finally:
        os.close(records)
    shutil.rmtree(folder, ignore_errors=True)
    return True
