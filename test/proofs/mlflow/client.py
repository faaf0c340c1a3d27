"""What people do with an MLflow client, by a real one of PyPI: run by `run.ts` against a service that runs.

Prints a line for each thing that worked. Ends with an error at the first that did not.
"""

import hashlib
import math
import os
import sys
import tempfile
import threading
import time

import frameworks
import mlflow
import mlflow.sklearn
from mlflow import MlflowClient
from mlflow.entities import Metric, Param, RunTag
from mlflow.exceptions import MlflowException
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

client = MlflowClient()
three = mlflow.__version__ >= "3"
sizes = [int(size) for size in sys.argv[1:]] or [1_000_000, 100_000_000]


def done(what, started):
    print(f"  {what}: {time.time() - started:.1f} s", flush=True)


def check(condition, what="a check"):
    if not condition:
        raise AssertionError(what)


def refused(act, code):
    try:
        act()
    except MlflowException as error:
        check(error.error_code == code, f"{error.error_code} in place of {code}")
    else:
        raise AssertionError(f"{code} was not thrown")


def fluent_logging():
    mlflow.set_experiment("fluent")
    with mlflow.start_run(run_name="parent", description="# Note") as parent:
        mlflow.log_params({"lr": 0.1, "layers": 3})
        for step in range(20):
            mlflow.log_metric("loss", 1 / (step + 1), step=step)
        mlflow.log_metrics({"nan": math.nan, "up": math.inf, "down": -math.inf}, step=1)
        mlflow.set_tags({"team": "vision"})
        with mlflow.start_run(nested=True) as child:
            mlflow.log_metric("acc", 0.9)
    run = mlflow.get_run(parent.info.run_id)
    check(run.info.status == "FINISHED" and run.info.run_name == "parent")
    check(run.data.params == {"lr": "0.1", "layers": "3"})
    check(run.data.metrics["loss"] == 1 / 20 and math.isnan(run.data.metrics["nan"]))
    check(run.data.metrics["up"] == math.inf and run.data.metrics["down"] == -math.inf)
    history = client.get_metric_history(parent.info.run_id, "loss")
    check([point.step for point in history] == list(range(20)))
    tags = mlflow.get_run(child.info.run_id).data.tags
    check(tags["mlflow.parentRunId"] == parent.info.run_id)
    refused(lambda: client.log_param(parent.info.run_id, "lr", 5), "INVALID_PARAMETER_VALUE")
    refused(lambda: client.get_run("nothing"), "RESOURCE_DOES_NOT_EXIST")


def batches_at_their_limits():
    run_id = client.create_run(client.create_experiment("batches")).info.run_id
    metrics = [Metric(f"m{i % 100}", i, 1000 + i, i) for i in range(800)]
    params = [Param(f"p{i}", "x" * 500) for i in range(100)]
    tags = [RunTag(f"t{i}", "y" * 500) for i in range(100)]
    client.log_batch(run_id, metrics, params, tags)
    data = client.get_run(run_id).data
    check(len(data.metrics) == 100 and len(data.params) == 100 and data.metrics["m99"] == 799)
    # One more of each than a request may have: clients send it in parts.
    points = [Metric("long", i, 1000 + i, i) for i in range(1001)]
    client.log_batch(run_id, points, [*params, Param("p", "x")], [*tags, RunTag("t", "y")])
    check(len(client.get_metric_history(run_id, "long")) == 1001)
    data = client.get_run(run_id).data
    check(len(data.params) == 101 and data.tags["t"] == "y")


def async_logging():
    with mlflow.start_run() as run:
        for step in range(100):
            mlflow.log_metric("async", step, step=step, synchronous=False)
        mlflow.flush_async_logging()
    check(len(client.get_metric_history(run.info.run_id, "async")) == 100)


def threads():
    run_id = client.create_run(client.create_experiment("threads")).info.run_id

    def log(thread):
        for step in range(10):
            client.log_metric(run_id, f"of {thread}", step, step=step)

    workers = [threading.Thread(target=log, args=(number,)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    check(all(len(client.get_metric_history(run_id, f"of {number}")) == 10 for number in range(4)))


def search_as_a_table():
    mlflow.set_experiment("table")
    for number in range(5):
        with mlflow.start_run():
            mlflow.log_param("number", number)
            mlflow.log_metric("score", number / 10)
    table = mlflow.search_runs(
        experiment_names=["table"], filter_string="metrics.score >= 0.2", order_by=["metrics.score DESC"]
    )
    check(list(table["params.number"]) == ["4", "3", "2"])
    page = client.search_runs([table["experiment_id"][0]], max_results=2)
    rest = client.search_runs([table["experiment_id"][0]], max_results=10, page_token=page.token)
    check(len({run.info.run_id for run in [*page, *rest]}) == 5)


def artifacts():
    folder = tempfile.mkdtemp()
    mlflow.set_experiment("artifacts")
    with mlflow.start_run() as run:
        mlflow.log_text("hello", "notes/hello.txt")
        for size in sizes:
            path = os.path.join(folder, f"{size}.bin")
            with open(path, "wb") as file:
                file.write(os.urandom(size))
            mlflow.log_artifact(path, "large files")
    run_id = run.info.run_id
    check(mlflow.artifacts.load_text(f"{run.info.artifact_uri}/notes/hello.txt") == "hello")
    for size in sizes:
        path = mlflow.artifacts.download_artifacts(
            run_id=run_id, artifact_path=f"large files/{size}.bin", dst_path=os.path.join(folder, "back")
        )
        digests = []
        for one in (path, os.path.join(folder, f"{size}.bin")):
            with open(one, "rb") as file:
                digests.append(hashlib.file_digest(file, "sha256").hexdigest())
        check(digests[0] == digests[1], f"{size} bytes came back as others")
    check([entry.path for entry in client.list_artifacts(run_id)] == ["large files", "notes"])


def autolog_and_models():
    mlflow.set_experiment("models")
    mlflow.sklearn.autolog(serialization_format="cloudpickle")
    inputs, labels = load_iris(return_X_y=True)
    with mlflow.start_run() as run:
        model = LogisticRegression(max_iter=200).fit(inputs, labels)
        kind = {"serialization_format": "cloudpickle"}
        info = (
            mlflow.sklearn.log_model(model, name="mine", **kind)
            if three
            else mlflow.sklearn.log_model(model, "mine", **kind)
        )
    mlflow.sklearn.autolog(disable=True)
    check(mlflow.get_run(run.info.run_id).data.params["max_iter"] == "200")
    loaded = mlflow.sklearn.load_model(info.model_uri)
    check((loaded.predict(inputs) == model.predict(inputs)).all())
    return info


def registry(info):
    version = mlflow.register_model(info.model_uri, "iris")
    client.set_registered_model_alias("iris", "champion", version.version)
    client.set_model_version_tag("iris", version.version, "checked", "yes")
    check(client.get_model_version_by_alias("iris", "champion").tags == {"checked": "yes"})
    check([model.name for model in client.search_registered_models()] == ["iris"])
    inputs, _ = load_iris(return_X_y=True)
    check(len(mlflow.sklearn.load_model("models:/iris@champion").predict(inputs)) == len(inputs))
    client.delete_registered_model("iris")


def deleted_and_restored():
    experiment_id = client.create_experiment("old")
    run_id = client.create_run(experiment_id).info.run_id
    client.delete_run(run_id)
    check(client.get_run(run_id).info.lifecycle_stage == "deleted")
    check(client.search_runs([experiment_id]) == [])
    client.restore_run(run_id)
    client.delete_experiment(experiment_id)
    check("old" not in [one.name for one in client.search_experiments()])
    client.restore_experiment(experiment_id)
    check(client.get_experiment_by_name("old").lifecycle_stage == "active")


print(f"mlflow {mlflow.__version__}", flush=True)
logged = None
for act in (
    fluent_logging,
    batches_at_their_limits,
    async_logging,
    threads,
    search_as_a_table,
    artifacts,
    autolog_and_models,
    registry,
    deleted_and_restored,
    *frameworks.acts(),
):
    began = time.time()
    if act is registry:
        act(logged)
    else:
        logged = act() or logged
    done(act.__name__.replace("_", " "), began)
