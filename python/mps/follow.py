"""Waiting for runs and sweeps, with their progress on a terminal or in a notebook."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from .error import Error
from .run import has_ended, state_text

if TYPE_CHECKING:
    from .connection import Connection
    from .run import Run
    from .sweep import Sweep

T = TypeVar("T")

# Seconds between two tries while the service is away, and between two readings of a sweep.
_pause = 2.0


def follow(connection: Connection, run: Run, *, quiet: bool) -> None:
    """Print the log of a run as it comes, and its state, until it has ended."""
    view = None if quiet else _Card(run)
    query: dict[str, Any] = {"parts": ["log"]}
    said = ""
    while True:
        live = _persistently(lambda: connection.request("GET", f"{run.path}/live", query=query), quiet)
        run.record = live["experiment"]
        if not quiet:
            for line in live["log"]:
                print(line["message"], file=sys.stdout if line["stream"] == "stdout" else sys.stderr, flush=True)
            state = state_text(run.record)
            if state != said and not has_ended(run.record):
                print(f"  {state}", file=sys.stderr, flush=True)
            said = state
        if view:
            view.update(has_ended(run.record))
        if live["after"] is None:
            break
        query["after"] = live["after"]
        time.sleep(live["retry_after"])
    if not quiet:
        print(f"{state_text(run.record)} after {run.record['duration'] or 0:.0f} s", file=sys.stderr, flush=True)


def follow_sweep(connection: Connection, sweep: Sweep, *, quiet: bool) -> None:
    """Say how far a sweep is, until it has ended or paused."""
    view = None if quiet else _Card(sweep)
    said = ""
    while True:
        sweep.record = _persistently(lambda: connection.request("GET", sweep.path), quiet)
        text = sweep.progress
        if not quiet and text != said:
            print(text, file=sys.stderr, flush=True)
        said = text
        ended = sweep.record["status"] != "RUNNING" and sweep.record["counts"]["running"] == 0
        if view:
            view.update(ended)
        if ended:
            return
        time.sleep(_pause)


def _persistently(call: Callable[[], T], quiet: bool) -> T:
    """Repeat a reading while the service is away: what it reads goes on there."""
    away = False
    while True:
        try:
            answer = call()
        except Error as error:
            if error.status not in (None, 429, 502, 503, 504):
                raise
            if not away and not quiet:
                print("The service cannot be reached; retrying…", file=sys.stderr, flush=True)
            away = True
            time.sleep(_pause)
            continue
        if away and not quiet:
            print("The service can be reached again.", file=sys.stderr, flush=True)
        return answer


class Shown(Protocol):
    """What a notebook shows of a run or sweep."""

    def _repr_html_(self) -> str: ...


class _Card:
    """What a notebook shows of a run or sweep while it goes on, in one place. On a terminal it shows nothing."""

    # Seconds between two drawings: each reads the curves.
    _rate = 3.0

    def __init__(self, shown: Shown) -> None:
        self._shown = shown
        self._display = _notebook_display()
        self._handle: Any = None
        self._next = 0.0

    def update(self, last: bool) -> None:
        if self._display is None or (time.monotonic() < self._next and not last):
            return
        self._next = time.monotonic() + self._rate
        if self._handle is None:
            self._handle = self._display(self._shown, display_id=True)
        else:
            self._handle.update(self._shown)


def _notebook_display() -> Any:
    """Return IPython's ``display`` in the kernel of a notebook, else None."""
    shell = sys.modules.get("IPython")
    found = shell.get_ipython() if shell else None
    if found is None or not hasattr(found, "kernel"):
        return None
    from IPython.display import display

    return display
