import json
import math
import os
import re
import shutil
from contextlib import contextmanager
from datetime import datetime, timezone

HISTORY = "import/history.ndjson"
"""Everything that was logged and is no number: a line of JSON for each value."""

MAX_TEXT = 64 << 20
"""Bytes of a text that is read into memory. A zip of a few kilobytes can have one of any size."""

MAX_FILES = 2000
"""Files made of one run: a histogram of each step of a long training would be thousands."""

FRESH_SECONDS = 300
"""A run without an end whose records changed within this time may still go on."""

SPARE = 1 << 30
"""Bytes that unpacking leaves free on this disk."""


class Source:
    """Keeps the files of each run that is read, and what cannot be brought, for `mps` to ask."""

    def __init__(self, scratch):
        self._scratch = scratch
        self._runs = {}
        self._made = 0
        self.unread = []
        self._beside = {}
        self._paths = {}
        self._factors = {}

    def is_first(self, id, path):
        """Whether nothing before had this id. What has it, too, is not brought, and said so."""
        first = self._paths.setdefault(id, path)
        if first != path:
            self.unread.append(f"{path}: has the id {id} of {first}, which is brought")
        return first == path

    def _of(self, run):
        if run not in self._runs:
            self._made += 1
            folder = os.path.join(self._scratch, str(self._made))
            self._runs[run] = {"folder": folder, "made": {}, "links": {}, "omitted": {}}
        return self._runs[run]

    def add(self, run, path, content, is_more=False):
        """Make a file of a run, and return its path. Files have numbers on this disk, so no name of a source reaches it."""
        kept = self._of(run)
        path = path if is_more else self.free(run, path)
        os.makedirs(kept["folder"], exist_ok=True)
        local = kept["made"].setdefault(path, os.path.join(kept["folder"], str(len(kept["made"]))))
        with open(local, "ab" if is_more else "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode("utf-8", "replace"))
        return path

    def unpack(self, run, path, archive, name):
        """Make a file of a run from one in a zip, which has no more bytes than it states."""
        if archive.getinfo(name).file_size > shutil.disk_usage(self._scratch).free - SPARE:
            return self.omit(run, "files for which this disk has no room")
        path = self.add(run, path, b"")
        with archive.open(name) as file:
            for part in iter(lambda: file.read(1 << 20), b""):
                self.add(run, path, part, is_more=True)

    def free(self, run, path):
        """Return a path that no file of the run has: the same, or with a number before its step and its ending."""
        kept, (start, ending), count = self._of(run), os.path.splitext(path), 0
        if of_step := re.fullmatch(r"(.*)(_step_-?\d+(?:\.\w+)*)", path):
            start, ending = of_step.groups()
        while path in kept["links"] or path in kept["made"]:
            count += 1
            path = f"{start}.{count}{ending}"
        return path

    def link(self, run, path, local, folder):
        """Name a file of this disk as a file of the run, if it is below the folder in which its tracker keeps them. Return its path."""
        if not os.path.realpath(local).startswith(os.path.join(os.path.realpath(folder), "")):
            return self.omit(run, "links to files elsewhere")
        # Apart from what is made here: nothing may ever be written to a file of this disk.
        links = self._of(run)["links"]
        if links.get(path) != local:
            path = self.free(run, path)
            links[path] = local
        return path

    def scale(self, run, steps, tag):
        """Note by what the fractions among the steps of a run become whole, which this service needs. Return the tag that says so."""
        factor = self._factors[run] = max([factor_of(step) for step in steps], default=1)
        return [(tag, factor)] if factor > 1 else []

    def step(self, run, step):
        """Return a step of a run as it is here."""
        factor = self._factors.get(run, 1)
        return step if factor == 1 else round(step * factor)

    def omit(self, run, reason, count=1):
        omitted = self._of(run)["omitted"]
        omitted[reason] = omitted.get(reason, 0) + count

    def omit_beside(self, reason, count=1):
        """Count what belongs to no run."""
        if count:
            self._beside[reason] = self._beside.get(reason, 0) + count

    @contextmanager
    def each(self, run, what="records that are damaged"):
        """Count a record of a run that cannot be read, so the others come. A full disk ends the run."""
        try:
            yield
        except OSError:
            raise
        except Exception:
            self.omit(run, what)

    def history(self, run, step, key, value):
        self.add(run, HISTORY, json.dumps({"step": step, "key": key, "value": value}) + "\n", is_more=True)

    def histogram(self, run, step, key, bins, values):
        kept = {"bins": list(bins), "values": list(values)}
        if len(self._of(run)["made"]) >= MAX_FILES:
            self.omit(run, f"histograms beyond {MAX_FILES} files of a run: in {HISTORY}")
            return self.history(run, step, key, kept)
        self.add(run, f"histograms/{key}_step_{step}.json", json.dumps(kept))

    def table(self, run, step, key, columns, data):
        text = json.dumps({"columns": list(columns), "data": list(data)})
        self.add(run, f"media/table/{key}_step_{step}.table.json", text)

    def files(self, run):
        kept = self._of(run)
        for path, local in {**kept["links"], **kept["made"]}.items():
            yield {"path": path, "local": local}

    def models(self):
        return ()

    def notes(self, kind, run=None):
        """Return what a finished list has left out."""
        if kind in ("experiments", "runs"):
            unread, self.unread = self.unread, []
            beside, self._beside = self._beside, {}
            return {"unread": unread, "omitted": beside}
        if kind not in ("points", "files"):
            return {}
        omitted, self._of(run)["omitted"] = self._of(run)["omitted"], {}
        return {"omitted": omitted}

    def release(self, run):
        shutil.rmtree(self._runs.pop(run, {}).get("folder", ""), ignore_errors=True)
        return ()


def whole(file):
    """Return the bytes of a file that must be read at once."""
    content = file.read(MAX_TEXT + 1)
    if len(content) > MAX_TEXT:
        raise ValueError(f"{file.name} has more than {MAX_TEXT} bytes")
    return content


def lines(file):
    """Yield the lines of a file."""
    for line in iter(lambda: file.readline(MAX_TEXT + 1), b""):
        if len(line) > MAX_TEXT:
            raise ValueError(f"{file.name} has a line of more than {MAX_TEXT} bytes")
        yield line


def text_in(facts, name, other=None):
    """Return a text that tells records apart. A text of another kind is a fault of the record."""
    value = facts.get(name) or other
    if not isinstance(value, str):
        raise ValueError(f"{name} is no text")
    return value


def factor_of(step):
    """Return the power of ten that makes a step whole, at most with the six decimals that Neptune keeps."""
    factors = (10**digits for digits in range(7))
    is_number = isinstance(step, (int, float)) and math.isfinite(step)
    return next((one for one in factors if round(step * one, 6).is_integer()), 10**6) if is_number else 1


def number(value):
    """Return a number as MLflow writes it: those that JSON lacks are texts. Return None for other values."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, str) and value in ("NaN", "Infinity", "-Infinity"):
        return value
    return value if isinstance(value, (int, float)) else None


def milliseconds(written):
    """Return a time in ISO 8601 as milliseconds since the epoch; None for a text that is none. Without a zone it is of UTC."""
    try:
        # Python 3.8 reads no Z.
        when = datetime.fromisoformat(written.replace("Z", "+00:00"))
    except (AttributeError, ValueError):
        return None
    return round((when if when.tzinfo else when.replace(tzinfo=timezone.utc)).timestamp() * 1000)


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
