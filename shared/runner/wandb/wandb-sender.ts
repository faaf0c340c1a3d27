/** The first part of the module that stands in for wandb: how metrics, params and tags are sent. */
export const wandbSender = `"""Records what a program logs by wandb in the experiment of its job.

Stands in for the package of this name, without a key or an account of it. Calls that it does not know do nothing: each is
named once, and the program goes on.
"""
import atexit
import fnmatch
import functools
import importlib.abc
import importlib.machinery
import importlib.util
import json
import math
import os
import shutil
import struct
import sys
import threading
import time
import types
import urllib.error
import urllib.request
import uuid
import zlib

__version__ = "0.19.0"

_URI = os.environ.get("MLFLOW_TRACKING_URI", "")
_TOKEN = os.environ.get("MLFLOW_TRACKING_TOKEN", "")
_OWN_RUN = os.environ.get("MLFLOW_RUN_ID", "")
_EXPERIMENT = os.environ.get("MLFLOW_EXPERIMENT_ID", "")
_OUTPUT = os.environ.get("OUTPUT_DIR", ".")
_MAX_MEDIA = 500
_MAX_ROWS = 10_000
_BATCH = 500

_said = set()


def _say(message):
    if message not in _said and len(_said) < 100:
        _said.add(message)
        print("wandb: " + message, file=sys.stderr, flush=True)


def _guarded(method):
    """What cannot be recorded, such as a cycle or an object that fails, is said and left out: the program goes on."""

    @functools.wraps(method)
    def guarded(*args, **others):
        try:
            return method(*args, **others)
        except Exception as error:
            _say("a call of %s is left out: %s" % (method.__name__.strip("_"), type(error).__name__))

    return guarded


def _call(path, body):
    request = urllib.request.Request(
        _URI.rstrip("/") + "/api/2.0/mlflow/" + path,
        data=json.dumps(body, allow_nan=True).encode(),
        headers={"Content-Type": "application/json", "Authorization": "Bearer " + _TOKEN},
        method="POST",
    )
    # The server is on this machine, so no proxy knows it.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=60) as answer:
        return json.loads(answer.read() or b"{}")


def _number(value):
    """The number of a value: also of NumPy's and of tensors with one element."""
    if isinstance(value, (bool, int, float)):
        return float(value)
    if isinstance(value, (str, bytes, dict, list, tuple, _Unknown)) or value is None:
        return None
    try:
        if getattr(value, "numel", None) is not None and value.numel() != 1:
            return None
        if getattr(value, "size", 1) not in (1,) and not callable(getattr(value, "size", None)):
            return None
        return float(value.item() if hasattr(value, "item") else value)
    except Exception:
        return None


def _flat(data, prefix=""):
    for key, value in dict(data).items():
        name = prefix + str(key)
        if isinstance(value, dict) and value:
            yield from _flat(value, name + ".")
        else:
            yield name, value


def _plain(value):
    """The key-value pairs of a dict, a Namespace or a configuration of another library."""
    if value is None:
        return {}
    if isinstance(value, str):
        try:
            with open(value) as file:
                return json.load(file)
        except Exception:
            _say("config is read from JSON files only: " + value)
            return {}
    if hasattr(value, "items"):
        return dict(value.items())
    try:
        return dict(vars(value))
    except TypeError:
        return {}


class _Sender:
    """Sends metrics, params and tags of one run in batches, from a thread of its own."""

    def __init__(self, run_id):
        self.run_id = run_id
        self.lock = threading.Lock()
        self.sending = threading.Lock()
        self.waiting = {"metrics": [], "params": [], "tags": []}
        self.ended = threading.Event()
        self.process = os.getpid()
        self.thread = threading.Thread(target=self._work, daemon=True)
        self.thread.start()

    def add(self, kind, **row):
        if os.getpid() != self.process:
            # A forked process has no thread that sends.
            self.__init__(self.run_id)
        with self.lock:
            self.waiting[kind].append(row)
            count = len(self.waiting["metrics"])
        if count >= 20_000:
            self.flush()

    def _work(self):
        while not self.ended.wait(1.0):
            self.flush()

    def flush(self):
        with self.sending:
            with self.lock:
                rows, self.waiting = self.waiting, {"metrics": [], "params": [], "tags": []}
            for kind, limit in (("tags", 100), ("params", 100), ("metrics", _BATCH)):
                for at in range(0, len(rows[kind]), limit):
                    self._send(kind, rows[kind][at : at + limit])

    def _send(self, kind, rows):
        try:
            _call("runs/log-batch", {"run_id": self.run_id, kind: rows})
        except urllib.error.HTTPError as error:
            if len(rows) > 1:
                # One refused row must not take the others with it.
                for row in rows:
                    self._send(kind, [row])
                return
            try:
                reason = json.loads(error.read()).get("message", "")
            except Exception:
                reason = str(error)
            _say("not recorded: %s %s: %s" % (kind[:-1], rows[0].get("key"), reason[:200]))
        except Exception as error:
            _say("not recorded: %s" % error)

    def close(self):
        self.ended.set()
        self.flush()


class Config:
    """The configuration of a run, whose values are params."""

    def __init__(self, run=None):
        object.__setattr__(self, "_run", run)
        object.__setattr__(self, "_values", {})

    @_guarded
    def update(self, value=None, allow_val_change=None, **more):
        for key, one in {**_plain(value), **more}.items():
            self[key] = one

    def setdefaults(self, value):
        for key, one in _plain(value).items():
            if key not in self._values:
                self[key] = one

    def __setitem__(self, key, value):
        self._values[str(key)] = value
        if self._run is not None:
            self._run._param(str(key), value)

    def __setattr__(self, key, value):
        self[key] = value

    def __getitem__(self, key):
        return self._values[key]

    def __getattr__(self, key):
        if key.startswith("__") or key not in self._values:
            raise AttributeError(key)
        return self._values[key]

    def get(self, key, default=None):
        return self._values.get(key, default)

    def setdefault(self, key, default=None):
        if key not in self._values:
            self[key] = default
        return self._values[key]

    def as_dict(self):
        return dict(self._values)

    def keys(self):
        return self._values.keys()

    def values(self):
        return self._values.values()

    def items(self):
        return self._values.items()

    def __contains__(self, key):
        return key in self._values

    def __iter__(self):
        return iter(self._values)

    def __len__(self):
        return len(self._values)

    def __repr__(self):
        return repr(self._values)


class Summary(Config):
    """Final values: numbers are metrics, others are tags."""

    def __setitem__(self, key, value):
        self._values[str(key)] = value
        if self._run is not None:
            self._run._final(str(key), value)

    def _note(self, key, value):
        self._values[key] = value


`;
