"""Records one run: metrics, params, tags and files."""
import atexit
import http.client
import json
import math
import os
import shutil
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

from .media import as_media
from .unknown import Unknown
from .values import number, text_of

URI = os.environ.get("MLFLOW_TRACKING_URI", "")
OWN_RUN = os.environ.get("MLFLOW_RUN_ID", "")
_TOKEN = os.environ.get("MLFLOW_TRACKING_TOKEN", "")
_EXPERIMENT = os.environ.get("MLFLOW_EXPERIMENT_ID", "")
_OUTPUT = os.environ.get("OUTPUT_DIR", ".")
_MAX_MEDIA = 500
_BATCH = 500
_MAX_PARAM = 6000
_MAX_TAG = 5000
# Seconds before each further try of a request.
_WAITS = (1.0, 2.0, 4.0)


def call(path, body, method="POST"):
    """One request of MLflow's API."""
    url = URI.rstrip("/") + "/api/2.0/mlflow/" + path
    headers = {"Content-Type": "application/json", "Authorization": "Bearer " + _TOKEN}
    data = json.dumps(body, allow_nan=True).encode() if method == "POST" else None
    if data is None:
        url += "?" + urllib.parse.urlencode(body)
    request = urllib.request.Request(url, data=data, headers=headers, method=method)
    # The server is on this machine, so no proxy knows it.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=60) as answer:
        return json.loads(answer.read() or b"{}")


class Recorder:
    """A run: the experiment of the job if it is the first of the program, else one of its own."""

    def __init__(self, says, name=None, notes=None, tags=None, disabled=False, is_child=False):
        self.says, self.name = says, name
        self.is_disabled = disabled
        self.run_id = None
        self.ended = False
        self._process = os.getpid()
        self._sender = None
        self._media = 0
        self._texts = {}
        if not disabled and not (URI.startswith("http") and OWN_RUN):
            says("nothing is recorded here: this process belongs to no experiment")
            self.is_disabled = True
        if not self.is_disabled:
            self._begin(is_child)
        top = _OUTPUT if not self.is_disabled else os.environ.get("TMPDIR", "/tmp")
        # The files of several runs may have the same names.
        of_run = [] if self.run_id in (None, OWN_RUN) else ["runs", _safe(self.run_id)]
        self.folder = os.path.join(os.path.abspath(top), says.tracker, *of_run)
        if notes:
            self.note(notes)
        for tag in tags or ():
            self.tag(tag, "true")
        _open.add(self)

    def _begin(self, is_child):
        # The server lets the first run of a job be the job's experiment. Of several ranks that is the first one's.
        tags = []
        if is_child or (os.environ.get("RANK") or "0") != "0":
            tags.append({"key": "mlflow.parentRunId", "value": OWN_RUN})
        body = {"experiment_id": _EXPERIMENT, "start_time": int(time.time() * 1000), "tags": tags}
        if self.name:
            body["run_name"] = str(self.name)
        try:
            self.run_id = call("runs/create", body)["run"]["info"]["run_id"]
        except Exception as error:
            self.says("this run is not recorded: %s" % error)
            self.is_disabled = True
            return
        self._sender = _Sender(self.run_id, self.says)

    def __deepcopy__(self, memo):
        return self

    @property
    def is_inherited(self):
        """Whether a process that this one was forked from began the run, and ends it."""
        return os.getpid() != self._process

    def past(self):
        """What an earlier attempt of this run recorded: its metrics, params and the next step."""
        if self.run_id is None:
            return {}, {}, 0
        try:
            data = call("runs/get", {"run_id": self.run_id}, "GET")["run"]["data"]
        except Exception as error:
            self.says("earlier values are not known: %s" % error)
            return {}, {}, 0
        metrics = data.get("metrics") or []
        steps = [int(one.get("step") or 0) + 1 for one in metrics]
        return ({one["key"]: float(one["value"]) for one in metrics},
                {one["key"]: one["value"] for one in data.get("params") or []}, max(steps, default=0))

    # -- what a program records

    def metric(self, key, value, step=0, timestamp=None):
        value = float(value)
        if math.isnan(value):
            value = "NaN"
        elif math.isinf(value):
            value = "Infinity" if value > 0 else "-Infinity"
        at = int(timestamp * 1000) if timestamp is not None else int(time.time() * 1000)
        self._send("metrics", key=str(key), value=value, timestamp=at, step=int(step))

    def param(self, key, value):
        self._send("params", key=str(key)[:250], value=text_of(value)[:_MAX_PARAM])

    def tag(self, key, value):
        self._send("tags", key=str(key)[:250], value=text_of(value)[:_MAX_TAG])

    def untag(self, key):
        if self._sender is not None:
            self._sender.flush()
            try:
                call("runs/delete-tag", {"run_id": self.run_id, "key": str(key)[:250]})
            except Exception as error:
                self.says("the tag %s is not removed: %s" % (key, error))

    def note(self, text):
        self.tag("mlflow.note.content", text)

    def rename(self, name):
        self.name = name
        self.tag("mlflow.runName", name)

    def text(self, key, value):
        """A text of a step. The first is kept at once; of several the last one, when the run ends."""
        if key not in self._texts:
            self.tag(key, value)
        self._texts[key] = value

    def value(self, key, value, step=0):
        """Whatever a program logs under a name. Return its number if it is one."""
        if isinstance(value, Unknown) or value is None:
            return None
        found = number(value)
        if found is not None:
            self.metric(key, found, step)
            return found
        several = [as_media(one) for one in value] if isinstance(value, (list, tuple)) else []
        media = as_media(value)
        if several and None not in several:
            for at, one in enumerate(several):
                self.media("%s_%d" % (key, at), one, step)
        elif media is not None:
            self.media(key, media, step)
        elif isinstance(value, str):
            self.text(key, value)
        else:
            self.says("%s is neither a number nor media that are kept: %s" % (key, type(value).__name__))
        return None

    def media(self, key, value, step=0):
        """A picture, a table or another file of a step."""
        value = as_media(value)
        if self.is_disabled or value is None:
            return
        self._media += 1
        if self._media > _MAX_MEDIA:
            self.says("more than %d pictures, tables and other media are not kept" % _MAX_MEDIA)
            return
        folder = os.path.join(self.folder, "media", value.folder)
        try:
            os.makedirs(folder, exist_ok=True)
            value.save(os.path.join(folder, "%s_%d" % (_safe(key), step)), self.says)
        except Exception as error:
            self.says("%s is not kept: %s" % (key, error))

    def file(self, path, inside, move=False):
        """Keep a file as an artifact. Return where it is."""
        if self.is_disabled:
            return str(path)
        target = os.path.normpath(os.path.join(self.folder, inside))
        if not target.startswith(self.folder + os.sep):
            self.says("%s is not kept: its name leads out of the run" % inside)
            return str(path)
        if os.path.abspath(str(path)) == target:
            return target
        os.makedirs(os.path.dirname(target), exist_ok=True)
        (shutil.move if move else shutil.copyfile)(str(path), target)
        return target

    def files(self, path, inside=""):
        """Keep a file or a folder with all its files."""
        path = str(path)
        if not os.path.isdir(path):
            if not os.path.isfile(path):
                self.says("%s is not kept: there is no such file" % path)
                return
            self.file(path, inside or os.path.basename(path))
            return
        for folder, _, names in os.walk(path):
            for one in names:
                full = os.path.join(folder, one)
                self.file(full, os.path.join(inside or os.path.basename(path), os.path.relpath(full, path)))

    def flush(self):
        if self._sender is not None:
            self._sender.flush()

    def reopen(self):
        """Go on after finish."""
        self.ended = False
        if self.run_id is not None:
            self._sender = _Sender(self.run_id, self.says)
        _open.add(self)

    def finish(self, exit_code=None):
        if self.ended:
            return
        if self.is_inherited:
            self.ended = True
            _open.discard(self)
            if self._sender is not None:
                self._sender.close()
            return
        for key, value in self._texts.items():
            self.tag(key, value)
        self.ended = True
        _open.discard(self)
        if self._sender is None:
            return
        self._sender.close()
        if self.run_id != OWN_RUN:
            status = "FAILED" if exit_code else "FINISHED"
            try:
                call("runs/update", {"run_id": self.run_id, "status": status, "end_time": int(time.time() * 1000)})
            except Exception as error:
                self.says("the run is not ended: %s" % error)

    def _send(self, kind, **row):
        if self._sender is not None and not self.ended:
            self._sender.add(kind, **row)


class _Sender:
    """Sends metrics, params and tags of one run in batches, from a thread of its own."""

    def __init__(self, run_id, says):
        self.run_id, self.says = run_id, says
        self.lock = threading.Lock()
        self.sending = threading.Lock()
        self.waiting = {"metrics": [], "params": [], "tags": []}
        self.ended = threading.Event()
        self.process = os.getpid()
        self.thread = threading.Thread(target=self._work, daemon=True)
        self.thread.start()
        self.is_down = False
        _end_with_process()

    def add(self, kind, **row):
        if os.getpid() != self.process:
            # A forked process has no thread that sends.
            self.__init__(self.run_id, self.says)
        with self.lock:
            self.waiting[kind].append(row)
            count = len(self.waiting["metrics"])
        if count >= 20_000:
            self.flush()

    def _work(self):
        while not self.ended.wait(1.0):
            self.flush()

    def flush(self):
        if os.getpid() != self.process:
            return
        with self.sending:
            with self.lock:
                rows, self.waiting = self.waiting, {"metrics": [], "params": [], "tags": []}
            for kind, limit in (("tags", 100), ("params", 100), ("metrics", _BATCH)):
                for at in range(0, len(rows[kind]), limit):
                    self._send(kind, rows[kind][at : at + limit])

    def _send(self, kind, rows):
        try:
            self._persist({"run_id": self.run_id, kind: rows})
        except urllib.error.HTTPError as error:
            if len(rows) > 1 and not _passes(error):
                # One refused row must not take the others with it.
                for row in rows:
                    self._send(kind, [row])
                return
            try:
                reason = json.loads(error.read()).get("message", "")
            except Exception:
                reason = str(error)
            others = " and %d more" % (len(rows) - 1) if len(rows) > 1 else ""
            self.says("not recorded: %s %s%s: %s" % (kind[:-1], rows[0].get("key"), others, reason[:200]))
        except Exception as error:
            self.says("not recorded: %s" % error)

    def _persist(self, body):
        """Try again after faults that pass. Once every try was in vain, later requests have one try until one succeeds."""
        for wait in (*(() if self.is_down else _WAITS), None):
            try:
                call("runs/log-batch", body)
                self.is_down = False
                return
            except (OSError, http.client.HTTPException) as error:
                if not _passes(error):
                    raise
                if wait is None:
                    self.is_down = True
                    raise
            time.sleep(wait)

    def close(self):
        # A lock of another process may be held here for ever.
        if os.getpid() == self.process:
            self.ended.set()
            self.flush()


def _passes(error):
    """Whether a request may succeed later: the server is away, is busy or has failed."""
    return not isinstance(error, urllib.error.HTTPError) or error.code == 429 or error.code >= 500


def _safe(name):
    return "".join(c if c.isalnum() or c in "-_.~" else "_" for c in str(name))[:100]


# A program may drop a run: it is here until it ends.
_open = set()
_ends = []
_ends_in = None


def at_end(call):
    """Call a function at the end of the program, before its runs end."""
    _ends.append(call)


def _end_with_process():
    """A process of multiprocessing runs finalizers of its own at its end, and not those of atexit."""
    global _ends_in
    util = sys.modules.get("multiprocessing.util")
    if util is None or _ends_in == os.getpid():
        return
    import multiprocessing
    if multiprocessing.parent_process() is not None:
        _ends_in = os.getpid()
        util.Finalize(None, _finish_all, exitpriority=100)


def _finish_all():
    for call in _ends:
        call()
    for recorder in list(_open):
        recorder.finish()


atexit.register(_finish_all)
