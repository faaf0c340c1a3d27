"""Plays Optuna on the tasks of `tasks.ts`, and prints what each study found and took as a line of JSON.

    python play-optuna.py <trials> <seeds> [task ...]
"""

import json
import math
import pathlib
import sys

import optuna

optuna.logging.set_verbosity(optuna.logging.ERROR)
folder = pathlib.Path(__file__).parent / "../../../fixtures/sweeps/tables"
trials, seeds = int(sys.argv[1]), int(sys.argv[2])


def branin(trial):
    x, y = trial.suggest_float("x", -5, 10), trial.suggest_float("y", 0, 15)
    bend = y - 5.1 / (4 * math.pi**2) * x**2 + 5 / math.pi * x - 6
    return [bend**2 + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x) + 10]


alphas = [1, 1.2, 3, 3.2]
widths = [[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14], [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]]
centers = [
    [1312, 1696, 5569, 124, 8283, 5886],
    [2329, 4135, 8307, 3736, 1004, 9991],
    [2348, 1451, 3522, 2883, 3047, 6650],
    [4047, 8828, 8732, 5743, 1091, 381],
]


def hartmann6(trial):
    x = [trial.suggest_float(f"x{at}", 0, 1) for at in range(6)]
    exponents = [sum(w * (v - c / 10_000) ** 2 for w, v, c in zip(*row, strict=True)) for row in zip(widths, [x] * 4, centers)]
    return [-sum(alpha * math.exp(-e) for alpha, e in zip(alphas, exponents))]


def table(name):
    data = json.loads((folder / f"{name}.json").read_text())

    def curve(trial):
        row = 0
        for axis, size in data["sizes"].items():
            row = row * size + trial.suggest_int(axis, 0, size - 1)
        return data["curves"][row]

    return curve


tasks = {"branin": branin, "hartmann6": hartmann6} | {name: table(name) for name in ("digits", "cancer", "diabetes")}
samplers = {
    "random": (optuna.samplers.RandomSampler, lambda: optuna.pruners.NopPruner()),
    "tpe": (optuna.samplers.TPESampler, lambda: optuna.pruners.NopPruner()),
    "tpe+asha": (optuna.samplers.TPESampler, lambda: optuna.pruners.SuccessiveHalvingPruner(1, 3)),
    "tpe+hyperband": (optuna.samplers.TPESampler, lambda: optuna.pruners.HyperbandPruner(1, 27, 3)),
}

for name in sys.argv[3:] or tasks:
    for method, (sampler, pruner) in samplers.items():
        if "+" in method and name in ("branin", "hartmann6"):
            continue
        for seed in range(seeds):
            epochs = 0

            def objective(trial):
                global epochs
                curve = tasks[name](trial)
                for step, value in enumerate(curve, 1):
                    epochs += 1
                    trial.report(value, step)
                    if step < len(curve) and trial.should_prune():
                        raise optuna.TrialPruned
                return curve[-1]

            study = optuna.create_study(sampler=sampler(seed=seed), pruner=pruner())
            study.optimize(objective, n_trials=trials)
            print(json.dumps({"task": name, "method": method, "seed": seed, "best": study.best_value, "epochs": epochs}), flush=True)
