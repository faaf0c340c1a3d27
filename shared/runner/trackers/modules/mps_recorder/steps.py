"""The functions that trackers like wandb have: init, log, config and finish."""
from .recorder import Recorder
from .unknown import unknown
from .values import flat, number, plain


class Config(dict):
    """The configuration of a run, whose values are params."""

    _recorder = None

    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        if self._recorder is not None:
            for name, one in flat({key: value}):
                self._recorder.param(name, one)

    def update(self, *args, **others):
        says = self._recorder.says if self._recorder is not None else None
        for values in (*args, others):
            for key, one in plain(values, says).items():
                self[key] = one

    set = __setitem__

    def __reduce__(self):
        # A copy is of no run.
        return type(self), (dict(self),)

    def __getattr__(self, name):
        if name.startswith("_") or name not in self:
            raise AttributeError(name)
        return self[name]

    def __setattr__(self, name, value):
        if name == "_recorder":
            object.__setattr__(self, name, value)
        else:
            self[name] = value


class StepRun:
    """A run whose values have the steps of `log`."""

    def __init__(self, says, config, name=None, notes=None, tags=None, disabled=False, facts=None):
        self._recorder = Recorder(says, name=name, notes=notes, tags=tags, disabled=disabled)
        self.id = self._recorder.run_id or "0"
        self.step = 0
        self.config = config
        dict.clear(config)
        config._recorder = self._recorder
        for key, value in (facts or {}).items():
            if value:
                self._recorder.tag(key, value)

    @property
    def name(self):
        return self._recorder.name

    def log(self, data, step=None, *args, **others):
        says = self._recorder.says
        try:
            if step is not None:
                self.step = int(step)
            for key, value in flat(data or {}, separator="/"):
                found = number(value)
                if found is None:
                    self._recorder.value(key, value, self.step)
                else:
                    self._recorder.metric(key, found, self.step)
            self.step += 1
        except Exception as error:
            says("a call of log is left out: %s" % type(error).__name__)

    def finish(self, *args, **others):
        self._recorder.finish()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.finish()

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return unknown("run." + name, self._recorder.says)


