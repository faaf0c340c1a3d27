"""What libraries record through MLflow without a line of logging code: boosted trees, Optuna, measurements of the system.

A part of `client.py`, by which it is run.
"""

import time

import mlflow
import optuna
from mlflow import MlflowClient
from optuna_integration import MLflowCallback
from sklearn.datasets import load_iris
from sklearn.model_selection import train_test_split

client = MlflowClient()
rounds = 12


def check(condition, what="a check"):
    if not condition:
        raise AssertionError(what)


def iris():
    inputs, labels = load_iris(return_X_y=True)
    return train_test_split(inputs, labels, random_state=1)


def autolog_of_lightgbm():
    import lightgbm
    import mlflow.lightgbm

    def fit(inputs, other_inputs, labels, other_labels):
        train = lightgbm.Dataset(inputs, labels)
        booster = lightgbm.train(
            {"objective": "multiclass", "num_class": 3, "num_leaves": 5, "verbose": -1, "num_threads": 1},
            train,
            num_boost_round=rounds,
            valid_sets=[train.create_valid(other_inputs, other_labels)],
            valid_names=["held_out"],
        )
        return booster, other_inputs

    autolog_of(mlflow.lightgbm, fit, {"num_leaves": "5"}, "held_out-multi_logloss")


def autolog_of_xgboost():
    import mlflow.xgboost
    import xgboost

    def fit(inputs, other_inputs, labels, other_labels):
        held_out = xgboost.DMatrix(other_inputs, other_labels)
        booster = xgboost.train(
            {"objective": "multi:softprob", "num_class": 3, "max_depth": 3, "nthread": 1},
            xgboost.DMatrix(inputs, labels),
            num_boost_round=rounds,
            evals=[(held_out, "held_out")],
            verbose_eval=False,
        )
        return booster, held_out

    autolog_of(mlflow.xgboost, fit, {"max_depth": "3"}, "held_out-mlogloss")


def autolog_of(library, fit, params, metric):
    """What autolog records of a training is found, and the model that it logs predicts the same.

    `fit` trains on the four parts of iris and returns the booster with what it predicts for.
    """
    mlflow.set_experiment(library.__name__)
    library.autolog()
    with mlflow.start_run() as run:
        booster, held_out = fit(*iris())
    library.autolog(disable=True)
    found_in(run.info.run_id, params, metric)
    loaded = library.load_model(f"runs:/{run.info.run_id}/model")
    check((loaded.predict(held_out) == booster.predict(held_out)).all())


def found_in(run_id, params, metric):
    """A training is found by its params, with each round's metric and the importance of each feature."""
    run = mlflow.get_run(run_id)
    check(run.info.status == "FINISHED")
    check(params.items() <= run.data.params.items(), f"{run.data.params} are without {params}")
    check(len(client.get_metric_history(run_id, metric)) >= rounds, f"{metric} is not of each round")
    check(any("feature_importance" in entry.path for entry in client.list_artifacts(run_id)))
    name, value = next(iter(params.items()))
    found = client.search_runs([run.info.experiment_id], f"params.{name} = '{value}'")
    check([one.info.run_id for one in found] == [run_id])


def objective(trial):
    return (trial.suggest_float("x", -5, 5) - 2) ** 2 + trial.suggest_int("y", 0, 3)


def callback_of_optuna():
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    callback = MLflowCallback(tracking_uri=mlflow.get_tracking_uri(), metric_name="distance")
    study = optuna.create_study(study_name="callback", sampler=optuna.samplers.RandomSampler(seed=1))
    study.optimize(objective, n_trials=5, callbacks=[callback])
    table = mlflow.search_runs(experiment_names=["callback"], order_by=["metrics.distance ASC"])
    check(len(table) == 5 and table["metrics.distance"][0] == study.best_value)
    check(float(table["params.x"][0]) == study.best_params["x"])


def storage_of_optuna():
    """Studies and trials lie in the service: another process goes on where one has ended."""
    from mlflow.optuna.storage import MlflowStorage

    experiment_id = client.create_experiment("storage of optuna")
    sampler = optuna.samplers.RandomSampler(seed=1)
    study = optuna.create_study(
        study_name="kept", storage=MlflowStorage(experiment_id=experiment_id), sampler=sampler
    )
    study.optimize(objective, n_trials=3)
    again = optuna.load_study(study_name="kept", storage=MlflowStorage(experiment_id=experiment_id))
    again.enqueue_trial({"x": 2.0, "y": 0})
    again.optimize(objective, n_trials=2)
    check(len(again.trials) == 5, f"{len(again.trials)} trials in place of 5")
    check(again.best_value == 0 and again.best_params == {"x": 2.0, "y": 0}, "the trial in the queue was not run")
    check(all(trial.state.is_finished() and trial.value is not None for trial in again.trials))


def metrics_of_the_system():
    mlflow.set_experiment("system")
    mlflow.set_system_metrics_sampling_interval(0.2)
    mlflow.set_system_metrics_samples_before_logging(2)
    with mlflow.start_run(log_system_metrics=True) as run:
        # As long as it takes until a sample has come.
        for _ in range(300):
            metrics = mlflow.get_run(run.info.run_id).data.metrics
            if "system/cpu_utilization_percentage" in metrics:
                break
            time.sleep(0.2)
    metrics = mlflow.get_run(run.info.run_id).data.metrics
    for name in ("cpu_utilization_percentage", "system_memory_usage_megabytes", "disk_usage_percentage"):
        check(f"system/{name}" in metrics, f"system/{name} is not there")
    found = mlflow.search_runs(experiment_names=["system"], filter_string="metrics.`system/disk_usage_percentage` >= 0")
    check(len(found) == 1)


def acts():
    """What this client can do. MLflow 2 has no storage for Optuna."""
    newer = [storage_of_optuna] if mlflow.__version__ >= "3" else []
    return [autolog_of_lightgbm, autolog_of_xgboost, callback_of_optuna, *newer, metrics_of_the_system]
