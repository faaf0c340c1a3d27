"""Records what a program logs by Neptune in the experiment of its job. Stands in for the package of this name."""
import atexit
import glob
import os

from mps_recorder import Media, Recorder, Says, Submodules, as_media, does_nothing, guarded, number, unknown

from . import types as _types
from .types import File

__version__ = "1.14.0"

says = Says("neptune")

# Fields below these are params; other single values are results.
_SETTINGS = ("parameters", "params", "hyperparameters", "hyper_parameters", "hparams", "config", "args", "settings")


class Handler:
    """A field, or a group of fields, of a run."""

    def __init__(self, run, path):
        self._run, self._path = run, path.strip("/")

    def __getitem__(self, name):
        return Handler(self._run, "%s/%s" % (self._path, name))

    def __setitem__(self, name, value):
        self[name].assign(value)

    @guarded(says)
    def assign(self, value, *args, **others):
        value = getattr(value, "_plain", value)
        if isinstance(value, dict) or hasattr(value, "__dict__") and type(value).__name__ == "Namespace":
            for key, one in (value if isinstance(value, dict) else vars(value)).items():
                self[str(key)].assign(one)
            return
        path, recorder = self._path, self._run._recorder
        self._run._fields[path] = value
        top = path.split("/")[0].lower()
        if path == "sys/name":
            recorder.rename(value)
        elif path == "sys/description":
            recorder.note(value)
        elif path == "sys/tags":
            self.add(value)
        elif top in _SETTINGS:
            recorder.param(path, value)
        elif as_media(value) is not None:
            recorder.media(path, value)
        elif number(value) is not None and not isinstance(value, bool):
            recorder.metric(path, number(value))
        else:
            recorder.tag(path, value)

    @guarded(says)
    def append(self, value, step=None, timestamp=None, **others):
        if isinstance(value, dict):
            for key, one in value.items():
                self[str(key)].append(one, step=step, timestamp=timestamp)
            return
        at = self._run._next(self._path, step)
        found = number(value)
        if found is not None:
            self._run._fields[self._path] = found
            self._run._recorder.metric(self._path, found, at, timestamp)
        elif isinstance(value, str):
            self._run._recorder.text(self._path, value)
        else:
            self._run._recorder.media(self._path, value if isinstance(value, Media) else File.as_image(value), at)

    def log(self, value, step=None, timestamp=None, **others):
        if isinstance(value, (list, tuple)):
            self.extend(value)
        else:
            self.append(value, step=step, timestamp=timestamp)

    def extend(self, values, steps=None, timestamps=None, **others):
        if isinstance(values, dict):
            for key, one in values.items():
                self[str(key)].extend(one, steps)
            return
        for at, one in enumerate(values):
            self.append(one, step=steps[at] if steps is not None else None)

    @guarded(says)
    def add(self, values, *args, **others):
        for one in [values] if isinstance(values, str) else values:
            self._run._recorder.tag(one if self._path == "sys/tags" else "%s/%s" % (self._path, one), "true")

    def remove(self, values, *args, **others):
        for one in [values] if isinstance(values, str) else values:
            self._run._recorder.untag(one)

    @guarded(says)
    def upload(self, value, *args, **others):
        if isinstance(value, (str, os.PathLike)):
            ending = os.path.splitext(str(value))[1]
            inside = self._path if self._path.endswith(ending) else self._path + ending
            self._run._recorder.files(value, inside)
        else:
            self._run._recorder.media(self._path, value)

    @guarded(says)
    def upload_files(self, globs, *args, **others):
        for pattern in [globs] if isinstance(globs, str) else globs:
            for path in glob.glob(pattern, recursive=True):
                if os.path.isfile(path):
                    self._run._recorder.file(path, os.path.join(self._path, os.path.relpath(path)).replace("../", ""))

    def fetch(self, *args, **others):
        return self._run._fields.get(self._path)

    fetch_last = fetch
    track_files = staticmethod(does_nothing("track_files", says, why="keeps no file here: use a data set"))
    pop = clear = staticmethod(does_nothing("pop", says))
    download = download_files = staticmethod(does_nothing("download", says))

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return unknown("Handler." + name, says)


class Run(Handler):
    def __init__(self, with_id=None, project=None, api_token=None, custom_run_id=None, mode=None, name=None, description=None,
                 tags=None, **others):
        self._recorder = Recorder(says, name=name, notes=description, tags=[tags] if isinstance(tags, str) else tags,
                                  disabled=mode == "debug")
        super().__init__(self, "")
        self._steps = {}
        self._fields = {"sys/id": self._recorder.run_id or "RUN-0", "sys/name": name}
        if project:
            self._recorder.tag("neptune.project", project)
        _runs.append(self)

    def __getitem__(self, name):
        return Handler(self, name)

    def _next(self, path, step):
        """The step of a value: one more than that of the one before, if the program gives none."""
        at = self._steps.get(path, 0) if step is None else int(step)
        self._steps[path] = at + 1
        return at

    def exists(self, path):
        return path in self._fields

    def get_url(self):
        return ""

    def sync(self, wait=True):
        self._recorder.flush()

    wait = sync

    def stop(self, seconds=None):
        self._recorder.finish()

    def print_structure(self):
        print("\n".join(sorted(self._fields)))

    def __delitem__(self, path):
        says("a field is not removed here")

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self._recorder.finish(exit_code=1 if kind is not None else 0)


_runs = []


def init_run(*args, **others):
    return Run(*args, **others)


init = init_run


def _named(name):
    return unknown(name, says)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    if name in ("integrations", "utils", "new", "exceptions", "management", "metadata_containers"):
        import importlib
        return importlib.import_module(__name__ + "." + name)
    return _named(name)


def stringify_unsupported(value, expand=None):
    return value


_submodules = Submodules(__name__, says, lambda below, name: getattr(_types, name, None))
atexit.register(lambda: [one.stop() for one in _runs])
