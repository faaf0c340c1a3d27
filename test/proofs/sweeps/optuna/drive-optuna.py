"""Optuna's sampler asks a sweep with the method `external` for trials, as a person's own script would.

Reads URL, TOKEN, PROJECT, TRIALS and PARALLEL of the environment; prints the sweep as JSON.
"""

import json
import os
import time
import urllib.error
import urllib.request

import optuna

URL, TOKEN, PROJECT = os.environ["URL"], os.environ["TOKEN"], os.environ["PROJECT"]
TRIALS, PARALLEL = int(os.environ.get("TRIALS", "12")), int(os.environ.get("PARALLEL", "2"))


def call(method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    if method == "POST":
        headers["Idempotency-Key"] = os.urandom(16).hex()
    request = urllib.request.Request(f"{URL}/projects/{PROJECT}{path}", data, headers, method=method)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def main():
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    space = {"lr": optuna.distributions.FloatDistribution(1e-3, 1, log=True)}
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=43, n_startup_trials=4))
    fields = {"config": "train.yaml", "metric": "loss", "goal": "minimize", "method": "external"}
    parameters = {"lr": {"min": 1e-3, "max": 1, "scale": "log"}}
    sweep = call("POST", "/sweeps", {**fields, "parameters": parameters, "trials": TRIALS, "parallel": PARALLEL})
    at = f"/sweeps/{sweep['sweep_id']}"
    running, asked = {}, 0
    while asked < TRIALS or running:
        while asked < TRIALS and len(running) < PARALLEL:
            trial = study.ask(space)
            experiment = call("POST", f"{at}/trials", {"params": trial.params})
            running[experiment["experiment_id"]] = trial
            asked += 1
        for row in call("GET", f"{at}/trials?limit=1000"):
            if row["outcome"] is not None and row["experiment_id"] in running:
                study.tell(running.pop(row["experiment_id"]), row["value"])
        time.sleep(0.3)
    ended = call("GET", at)
    rows = call("GET", f"{at}/trials?limit=1000")
    told = [trial.params for trial in study.trials]
    print(json.dumps({"sweep": ended, "trials": rows, "told": told, "best": study.best_params}))


main()
