"""Records what a program logs by Neptune's client for large runs. Stands in for the package of this name."""
from mps_recorder import Recorder, Says, Submodules, flat, guarded, unknown

__version__ = "0.13.0"

says = Says("neptune_scale")


class Run:
    def __init__(self, run_id=None, experiment_name=None, project=None, api_token=None, mode=None, **others):
        self._recorder = Recorder(says, name=experiment_name or run_id, disabled=mode == "disabled")

    @guarded(says)
    def log_configs(self, data=None, **others):
        for key, value in flat(data or {}, separator="/"):
            self._recorder.param(key, value)

    @guarded(says)
    def log_metrics(self, data, step, **others):
        for key, value in flat(data, separator="/"):
            self._recorder.value(key, value, int(step))

    @guarded(says)
    def log_string_series(self, data, step, **others):
        for key, value in data.items():
            self._recorder.text(key, value)

    @guarded(says)
    def log_files(self, files, step, **others):
        for key, value in files.items():
            self._recorder.files(getattr(value, "source", value), "%s_%s" % (key, step))

    @guarded(says)
    def assign_files(self, files):
        for key, value in files.items():
            self._recorder.files(getattr(value, "source", value), key)

    def add_tags(self, tags, group_tags=False):
        for one in tags:
            self._recorder.tag(one, "true")

    def remove_tags(self, tags, group_tags=False):
        for one in tags:
            self._recorder.untag(one)

    def wait_for_submission(self, *args, **others):
        self._recorder.flush()

    wait_for_processing = wait_for_submission

    def close(self, *args, **others):
        self._recorder.finish()

    terminate = close

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return unknown("Run." + name, says)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return unknown(name, says)


_submodules = Submodules(__name__, says)
