"""Records what a program tracks by Aim in the experiment of its job. Stands in for the package of this name."""
import atexit
import os

from mps_recorder import Audio as _Audio
from mps_recorder import Histogram, Image, Recorder, Says, Submodules, Text, as_media, flat, guarded, number, unknown

__version__ = "3.29.1"

says = Says("aim")

_runs = []


class Run:
    """A context, such as {"subset": "train"}, is the beginning of a metric's name."""

    def __init__(self, run_hash=None, repo=None, read_only=False, experiment=None, **others):
        self._recorder = Recorder(says, name=experiment)
        self.hash = run_hash or self._recorder.run_id or "0"
        self.repo = repo
        self._experiment = experiment
        self._description = None
        self._steps = {}
        self._values = {}
        _runs.append(self)

    @guarded(says)
    def track(self, value, name=None, step=None, epoch=None, context=None):
        if isinstance(value, dict) and name is None:
            for key, one in value.items():
                self.track(one, key, step, epoch, context)
            return
        key = "/".join([*map(str, (context or {}).values()), str(name or "value")])
        at = self._steps.get(key, 0) if step is None else int(step)
        self._steps[key] = at + 1
        found = number(value)
        if found is not None:
            self._recorder.metric(key, found, at)
        else:
            self._recorder.value(key, value, at)

    @guarded(says)
    def __setitem__(self, key, value):
        self._values[key] = value
        pairs = flat(value, "" if key in ("hparams", Ellipsis) else str(key) + ".") if isinstance(value, dict) else [(key, value)]
        for name, one in pairs:
            if as_media(one) is not None:
                self._recorder.media(name, one)
            else:
                self._recorder.param(name, one)

    def set(self, key, value, strict=True):
        self[key] = value

    def __getitem__(self, key):
        return self._values[key]

    def get(self, key, default=None, *args, **others):
        return self._values.get(key, default)

    @property
    def name(self):
        return self._recorder.name

    @name.setter
    def name(self, value):
        self._recorder.rename(value)

    @property
    def experiment(self):
        return self._experiment

    @experiment.setter
    def experiment(self, value):
        self._experiment = value
        self._recorder.tag("aim.experiment", value)

    @property
    def description(self):
        return self._description

    @description.setter
    def description(self, value):
        self._description = value
        self._recorder.note(value)

    def add_tag(self, value):
        self._recorder.tag(value, "true")

    def remove_tag(self, name):
        self._recorder.untag(name)

    @guarded(says)
    def log_artifact(self, path, name=None, *args, **others):
        self._recorder.files(path, "artifacts/" + (name or os.path.basename(os.path.normpath(str(path)))))

    log_artifacts = log_artifact

    def log_info(self, message, **others):
        print(message, flush=True)

    log_warning = log_error = log_debug = log_info

    def set_artifacts_uri(self, uri):
        says("set_artifacts_uri does nothing here: artifacts are the experiment's")

    def report_progress(self, *args, **others):
        return None

    report_successful_finish = report_progress

    def close(self):
        self._recorder.finish()

    finalize = close

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return unknown("Run." + name, says)


class Audio(_Audio):
    def __init__(self, data=None, format="", rate=None, caption="", **others):
        super().__init__(data, rate, caption=caption)


def Distribution(samples=None, bin_count=64, hist=None, bin_range=None, **others):
    return Histogram(samples, num_bins=bin_count) if hist is None else Histogram(np_histogram=(hist, bin_range or ()))


def Figure(figure):
    return as_media(figure)


def _inner(below, name):
    return None


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return unknown(name, says)


_submodules = Submodules(__name__, says, _inner)
atexit.register(lambda: [one.close() for one in _runs])

__all__ = ["Audio", "Distribution", "Figure", "Histogram", "Image", "Run", "Text"]
