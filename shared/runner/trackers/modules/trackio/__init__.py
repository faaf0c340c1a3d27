"""Records what a program logs by Trackio in the experiment of its job. Stands in for the package of this name."""
import os

from mps_recorder import Audio, Histogram, Image, Says, Submodules, Table, Text, Video, does_nothing, unknown
from mps_recorder.steps import Config, StepRun

__version__ = "0.20.0"

says = Says("trackio")

config = Config()
run = None


def init(project=None, name=None, group=None, space_id=None, dataset_id=None, config=None, resume="never", settings=None, **others):
    global run
    if space_id:
        says("space_id is not used here: runs are recorded in this experiment")
    if run is not None:
        run.finish()
    facts = {"trackio.project": project, "trackio.group": group}
    run = StepRun(says, globals()["config"], name=name, facts=facts)
    globals()["config"].update(config or {})
    return run


def log(metrics, step=None):
    if run is None:
        raise RuntimeError("Call trackio.init() before trackio.log().")
    run.log(metrics, step)


def finish():
    global run
    if run is not None:
        run.finish()
        run = None


def alert(title, text=None, level="warn", *args, **others):
    print("trackio: alert: %s: %s" % (title, text or ""), flush=True)


def save(glob_str, project=None):
    import glob
    if run is not None:
        for path in glob.glob(str(glob_str)):
            run._recorder.files(path, os.path.basename(path))


def log_artifact(path, name=None, *args, **others):
    if run is not None:
        run._recorder.files(path, "artifacts/" + (name or os.path.basename(str(path))))


def Markdown(text=""):
    return Text(text)


show = does_nothing("show", says, why="does nothing here: the console shows the run")
sync = does_nothing("sync", says)
log_system = does_nothing("log_system", says, why="does nothing here: the service samples the machine")
log_gpu = does_nothing("log_gpu", says, why="does nothing here: the service samples the machine")


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return unknown(name, says)


_submodules = Submodules(__name__, says)

__all__ = ["Audio", "Histogram", "Image", "Markdown", "Table", "Video", "config", "finish", "init", "log"]
