"""Sweeps in the program itself: wandb.sweep and wandb.agent, whose trials are runs of their own."""
import itertools
import math
import random
import traceback
import uuid

from mps_recorder import plain

from . import _state
from ._errors import UsageError
from ._state import says

# What the server keeps of one job.
MAX_TRIALS = 1000

_sweeps = {}

# The sweep's id and the values that it drew for the trial that runs.
trial = None


def sweep(sweep=None, entity=None, project=None, prior_runs=None):
    if callable(sweep):
        sweep = sweep()
    found = plain(sweep, says)
    if not isinstance(found.get("parameters"), dict):
        raise UsageError("a sweep has parameters, a dict of at least one")
    made = uuid.uuid4().hex[:8]
    _sweeps[made] = found
    return made


def agent(sweep_id, function=None, entity=None, project=None, count=None, **others):
    global trial
    found = _sweeps.get(str(sweep_id).split("/")[-1])
    if found is None:
        raise UsageError("the sweep %s is at wandb's server, which this job does not ask: mps sweep runs a search" % sweep_id)
    if function is None:
        raise UsageError("an agent without a function runs the sweep's program: mps sweep does that")
    if found.get("method") == "bayes":
        says("the values of a sweep of the method bayes are drawn at random; mps sweep searches by earlier trials")
    if found.get("early_terminate"):
        says("early_terminate of a sweep does nothing here; mps sweep stops trials early")
    limit = min(int(count or found.get("run_cap") or MAX_TRIALS), MAX_TRIALS)
    last, has_worked = None, False
    for values in itertools.islice(_draw(found), limit):
        trial = (str(sweep_id), values)
        try:
            function()
            has_worked = True
        except Exception as error:
            traceback.print_exc()
            last = error
            if _state.run is not None:
                _state.run.finish(exit_code=1)
        finally:
            trial = None
            if _state.run is not None:
                _state.run.finish()
    if not has_worked and last is not None:
        raise last


def _draw(found):
    parameters = found["parameters"]
    if found.get("method") == "grid":
        names = list(parameters)
        yield from (dict(zip(names, row)) for row in itertools.product(*(_grid(parameters[one]) for one in names)))
        return
    while True:
        yield {name: _value(one) for name, one in parameters.items()}


def _grid(one):
    if "parameters" in one:
        names = list(one["parameters"])
        rows = itertools.product(*(_grid(one["parameters"][name]) for name in names))
        return [dict(zip(names, row)) for row in rows]
    if "values" in one:
        return one["values"]
    if "value" in one:
        return [one["value"]]
    low, high = one.get("min"), one.get("max")
    if isinstance(low, int) and isinstance(high, int):
        return range(low, high + 1, int(one.get("q", 1)))
    raise UsageError("a grid needs values, a value, or whole numbers from min to max: %r" % (one,))


def _value(one):
    if "parameters" in one:
        return {name: _value(inner) for name, inner in one["parameters"].items()}
    if "value" in one:
        return one["value"]
    if "values" in one:
        return random.choices(one["values"], weights=one.get("probabilities"))[0]
    low, high = one.get("min"), one.get("max")
    kind = one.get("distribution")
    if kind is None:
        kind = "int_uniform" if isinstance(low, int) and isinstance(high, int) else "uniform"
    step = one.get("q", 1)
    is_rounded = kind.startswith("q_")
    kind = kind[2:] if is_rounded else kind
    if kind == "int_uniform":
        found = random.randint(int(low), int(high))
    elif kind == "uniform":
        found = random.uniform(low, high)
    elif kind == "log_uniform":
        found = math.exp(random.uniform(low, high))
    elif kind == "log_uniform_values":
        found = math.exp(random.uniform(math.log(low), math.log(high)))
    elif kind == "inv_log_uniform_values":
        found = 1 / math.exp(random.uniform(math.log(1 / high), math.log(1 / low)))
    elif kind == "inv_log_uniform":
        found = 1 / math.exp(random.uniform(low, high))
    elif kind == "normal":
        found = random.gauss(one.get("mu", 0.0), one.get("sigma", 1.0))
    elif kind == "log_normal":
        found = math.exp(random.gauss(one.get("mu", 0.0), one.get("sigma", 1.0)))
    elif kind == "beta":
        found = random.betavariate(one.get("a", 1.0), one.get("b", 1.0))
    else:
        raise UsageError("the distribution %s is not known here" % kind)
    return round(found / step) * step if is_rounded else found
