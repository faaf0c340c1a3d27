"""The current run of the program, and how this module speaks."""
from mps_recorder import Says

from ._errors import Error

says = Says("wandb")

# The run that init began and finish did not end. The module wandb shows it, with its config and summary.
run = None


def log(data=None, step=None, commit=None, sync=None):
    if run is None:
        raise Error("You must call wandb.init() before wandb.log()")
    run.log(data, step=step, commit=commit)


def define_metric(*args, **others):
    if run is None:
        raise Error("You must call wandb.init() before wandb.define_metric()")
    return run.define_metric(*args, **others)
