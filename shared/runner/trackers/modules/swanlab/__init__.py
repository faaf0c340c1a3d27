"""Records what a program logs by SwanLab in the experiment of its job. Stands in for the package of this name."""
import os

from mps_recorder import Audio, Image, Object3D, Says, Submodules, Table, Text, Video, does_nothing, unknown
from mps_recorder.steps import Config, StepRun

__version__ = "0.7.0"

says = Says("swanlab")

config = Config()
run = None


def init(project=None, workspace=None, experiment_name=None, description=None, config=None, logdir=None, mode=None,
         tags=None, group=None, job_type=None, **others):
    global run
    if run is not None:
        run.finish()
    facts = {"swanlab.project": project, "swanlab.group": group, "swanlab.job_type": job_type}
    run = StepRun(says, globals()["config"], name=experiment_name or others.get("name"), notes=description, tags=tags,
                  disabled=mode == "disabled", facts=facts)
    globals()["config"].update(config if config is not None else {})
    return run


def log(data, step=None, print_to_console=False):
    if run is None:
        raise RuntimeError("You must call swanlab.init() before using log()")
    if print_to_console:
        print(data, flush=True)
    run.log(data, step)


def finish(state=None, error=None):
    global run
    if run is not None:
        run.finish()
        run = None


def get_run():
    return run


def get_url():
    return None


get_project_url = get_url


def login(api_key=None, *args, **others):
    if api_key:
        says("login needs no key here: runs are recorded in this experiment")
    return True


def save(glob_str, base_path=None, policy=None):
    import glob
    if run is not None:
        for path in glob.glob(str(glob_str)):
            run._recorder.files(path, os.path.relpath(path, base_path) if base_path else os.path.basename(path))


def merge_settings(*args, **others):
    return None


Molecule = Object3D

register_callbacks = does_nothing("register_callbacks", says)
sync_wandb = does_nothing("sync_wandb", says, why="does nothing here: what a program logs by wandb is recorded itself")
sync_tensorboardX = does_nothing("sync_tensorboardX", says, why="does nothing here: event files are read")
sync_tensorboard_torch = does_nothing("sync_tensorboard_torch", says, why="does nothing here: event files are read")
sync_mlflow = does_nothing("sync_mlflow", says, why="does nothing here: MLflow's runs are recorded themselves")


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return unknown(name, says)


_submodules = Submodules(__name__, says)

__all__ = ["Audio", "Image", "Molecule", "Object3D", "Table", "Text", "Video", "config", "finish", "init", "log"]
