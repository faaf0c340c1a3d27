"""config and summary of a run."""
from mps_recorder import flat, guarded, plain

from ._errors import Error
from ._state import says


class Config:
    """The configuration of a run, whose values are params."""

    def __init__(self, run=None):
        object.__setattr__(self, "_run", run)
        object.__setattr__(self, "_values", {})
        object.__setattr__(self, "_fixed", frozenset())

    def __reduce__(self):
        return _copied, (type(self), self._values)

    def _fix(self, values):
        """Take values that nothing replaces: those that a sweep draws."""
        for key, one in values.items():
            self[key] = one
        object.__setattr__(self, "_fixed", frozenset(values))

    @guarded(says)
    def update(self, value=None, allow_val_change=None, **more):
        for key, one in {**plain(value, says), **more}.items():
            self[key] = one

    @guarded(says)
    def setdefaults(self, value):
        for key, one in plain(value, says).items():
            if key not in self._values:
                self[key] = one

    def __setitem__(self, key, value):
        if str(key) in self._fixed:
            return
        self._values[str(key)] = value
        if self._run is not None:
            self._run._param(str(key), value)

    def __setattr__(self, key, value):
        self[key] = value

    def __delitem__(self, key):
        del self._values[key]

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


def _copied(kind, values):
    """A copy is of no run: what is assigned to it is not recorded."""
    made = kind()
    made._values.update(values)
    return made


class Summary(Config):
    """Final values: numbers are metrics, media are files, others are tags."""

    def __setitem__(self, key, value):
        self._values[str(key)] = value
        if self._run is not None:
            pairs = flat(value, str(key) + ".") if isinstance(value, dict) and value else [(str(key), value)]
            for name, one in pairs:
                self._run._final(name, one)

    def _note(self, key, value):
        self._values[key] = value


class Summarized(float):
    """The value of a metric of `define_metric(summary=…)`: a number, and also found under its kind."""

    def __new__(cls, value, kind):
        made = float.__new__(cls, value)
        made.kind = kind
        return made

    def __getitem__(self, kind):
        if kind != self.kind:
            raise KeyError(kind)
        return float(self)

    def get(self, kind, default=None):
        return float(self) if kind == self.kind else default


class BeforeInit:
    """config and summary before init."""

    def __init__(self, name):
        object.__setattr__(self, "_name", name)

    def _fail(self, *_, **__):
        raise Error("You must call wandb.init() before wandb.%s" % self._name)

    __getitem__ = __setitem__ = __setattr__ = update = _fail

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        self._fail()
