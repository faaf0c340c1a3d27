"""Records what a program logs by wandb in the experiment of its job.

Stands in for the package of this name, without a key or an account of it. Calls that it does not know do nothing: each is
named once, and the program goes on.
"""
import importlib
import sys
import types

from mps_recorder import Submodules, at_end, does_nothing, unknown

from . import _state, _sweep
from ._artifact import Artifact
from ._charts import PLOTS, CustomChart
from ._config import BeforeInit, Config, Summary
from ._errors import AuthenticationError, CommError, Error, UnsupportedError, UsageError, WaitTimeoutError
from ._frameworks import PARTS, keras_part
from ._media import (Audio, BoundingBoxes2D, Classes, Histogram, Html, Image, ImageMask, Media, Molecule, Object3D,
                     Plotly, Table, Video)
from ._run import Metric, Run
from ._state import define_metric, log, says
from ._sweep import agent, sweep

__version__ = "0.19.0"

run = None
config = BeforeInit("config")
summary = BeforeInit("summary")


def init(project=None, entity=None, reinit=None, **others):
    global run, config, summary
    if _state.run is not None:
        keep_others = reinit in ("create_new",)
        if not reinit or reinit == "return_previous":
            _state.run.config.update(others.get("config"))
            return _state.run
        if not keep_others:
            _state.run.finish()
    made = Run(project=project, entity=entity, sweep=_sweep.trial, **others)
    _state.run = run = made
    config, summary = run.config, run.summary
    return made


def _ended(finished):
    """finish of a run calls this."""
    global run, config, summary
    if _state.run is finished:
        _state.run = run = None
        config, summary = BeforeInit("config"), BeforeInit("summary")


def finish(exit_code=None, quiet=None):
    if _state.run is not None:
        _state.run.finish(exit_code)


join = finish


def teardown(exit_code=None):
    finish(exit_code)


def _of_run(name):
    def call(*args, **others):
        if _state.run is None:
            says("%s before init does nothing" % name)
            return None
        return getattr(_state.run, name)(*args, **others)

    call.__name__ = name
    call.is_named = getattr(getattr(Run, name), "is_named", False)
    return call


for _name in ("alert", "link_artifact", "link_model", "log_artifact", "log_code", "log_model", "mark_preempting", "restore",
              "save", "unwatch", "use_artifact", "use_model", "watch"):
    globals()[_name] = _of_run(_name)


def login(anonymous=None, key=None, *args, **others):
    if key:
        says("login needs no key here: runs are recorded in this experiment")
    return True


def setup(*args, **others):
    return None


def ensure_configured(*args, **others):
    return None


def termlog(string="", *args, **others):
    print("wandb: " + str(string), file=sys.stderr)


termwarn = termerror = termlog


def require(*args, **others):
    return None


def plot_table(*args, **others):
    return PLOTS["plot_table"](*args, **others)


def visualize(*args, **others):
    return PLOTS["visualize"](*args, **others)


controller = does_nothing("controller", says, why="does nothing here: an agent draws the values of a sweep")


class Settings(types.SimpleNamespace):
    def __init__(self, *args, **others):
        super().__init__(**others)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return None


class AlertLevel:
    INFO, WARN, ERROR = "INFO", "WARN", "ERROR"


def _inner(below, name):
    """What a module below this one contains. Inner modules of the package have its classes, too."""
    for part in below.split("."):
        found = PARTS[part](name) if part in PARTS else None
        if found is not None:
            return found
    return None


_submodules = Submodules(__name__, says, _inner)
at_end(finish)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    if name == "WandbCallback":
        return keras_part(name)
    if name in PARTS or name in ("errors", "sdk", "integration", "data_types", "apis", "env"):
        return importlib.import_module(__name__ + "." + name)
    return unknown(name, says)


__all__ = [
    "AlertLevel", "Artifact", "Audio", "AuthenticationError", "BoundingBoxes2D", "Classes", "CommError", "Config",
    "CustomChart", "Error", "Histogram", "Html", "Image", "ImageMask", "Media", "Metric", "Molecule", "Object3D", "Plotly",
    "Run", "Settings", "Summary", "Table", "UnsupportedError", "UsageError", "Video", "WaitTimeoutError", "agent",
    "define_metric", "finish", "init", "log", "login", "sweep",
]
