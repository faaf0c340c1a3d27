import json
import math
import os
import re
import shutil

HISTORY = "import/history.ndjson"
"""Everything that was logged and is no number: a line of JSON for each value."""


class Source:
    """Keeps the files of each run that is read, and what cannot be brought, for `mps` to ask."""

    def __init__(self, scratch):
        self._scratch = scratch
        self._runs = {}
        self._made = 0
        self.unread = []

    def _of(self, run):
        if run not in self._runs:
            self._made += 1
            folder = os.path.join(self._scratch, str(self._made))
            self._runs[run] = {"folder": folder, "files": {}, "omitted": {}}
        return self._runs[run]

    def add(self, run, path, content, is_more=False):
        """Make a file of a run. Files have numbers on this disk, so no name of a source reaches it."""
        kept = self._of(run)
        os.makedirs(kept["folder"], exist_ok=True)
        local = kept["files"].setdefault(path, os.path.join(kept["folder"], str(len(kept["files"]))))
        with open(local, "ab" if is_more else "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode("utf-8", "replace"))

    def free(self, run, path):
        """Return a path that no file of the run has: the same, or with a number before its ending."""
        files, (start, ending), count = self._of(run)["files"], os.path.splitext(path), 0
        while path in files:
            count += 1
            path = f"{start}.{count}{ending}"
        return path

    def link(self, run, path, local):
        """Name a file of this disk as a file of the run. `mps` refuses those elsewhere."""
        self._of(run)["files"][path] = local

    def omit(self, run, reason, count=1):
        omitted = self._of(run)["omitted"]
        omitted[reason] = omitted.get(reason, 0) + count

    def history(self, run, step, key, value):
        self.add(run, HISTORY, json.dumps({"step": step, "key": key, "value": value}) + "\n", is_more=True)

    def histogram(self, run, step, key, bins, values):
        self.add(run, f"histograms/{key}_step_{step}.json", json.dumps({"bins": list(bins), "values": list(values)}))

    def table(self, run, step, key, columns, data):
        text = json.dumps({"columns": list(columns), "data": list(data)})
        self.add(run, f"media/table/{key}_step_{step}.table.json", text)

    def files(self, run):
        for path, local in self._of(run)["files"].items():
            yield {"path": path, "local": local}

    def models(self):
        return ()

    def notes(self, kind, run=None):
        """Return what a finished list has left out."""
        if kind in ("experiments", "runs"):
            unread, self.unread = self.unread, []
            return {"unread": unread}
        if kind not in ("points", "files"):
            return {}
        omitted, self._of(run)["omitted"] = self._of(run)["omitted"], {}
        return {"omitted": omitted}

    def release(self, run):
        shutil.rmtree(self._runs.pop(run, {}).get("folder", ""), ignore_errors=True)
        return ()


def number(value):
    """Return a number as MLflow writes it: those that JSON lacks are texts. Return None for other values."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, str) and value in ("NaN", "Infinity", "-Infinity"):
        return value
    return value if isinstance(value, (int, float)) else None


def text(value):
    """Return a value as the text of a param or a tag."""
    return json.dumps(value) if isinstance(value, (dict, list, tuple)) else str(value)


def pairs(values):
    return [{"key": str(key), "value": text(value)} for key, value in values]


def flat(values, prefix=""):
    """Yield the values of nested objects, with their names joined by a point. Media stay whole."""
    for name, value in values.items():
        if isinstance(value, dict) and value and "_type" not in value:
            yield from flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def system(name):
    """Return the name here of a metric of the machine."""
    return "system/" + re.sub(r"[\\/]+", "_", name)
