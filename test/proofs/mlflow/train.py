"""A script of somebody who logs to MLflow: nothing in it knows where it runs."""

import mlflow
import numpy
from mlflow import MlflowClient
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

mlflow.set_experiment("story")
mlflow.sklearn.autolog(serialization_format="cloudpickle") if mlflow.__version__ >= "3" else mlflow.sklearn.autolog()

inputs, labels = load_iris(return_X_y=True)
with mlflow.start_run() as run:
    model = LogisticRegression(max_iter=321).fit(inputs, labels)
    for step in range(5):
        mlflow.log_metric("loss", 1 / (step + 1), step=step)
    mlflow.log_text("hello", "notes/hello.txt")

back = MlflowClient().get_run(run.info.run_id)
assert back.data.params["max_iter"] == "321" and back.data.metrics["loss"] == 0.2
(logged,) = [one.path for one in MlflowClient().list_artifacts(run.info.run_id, "notes")]
assert logged == "notes/hello.txt"

# The second run of the program, with a run for each candidate of the search below it.
GridSearchCV(LogisticRegression(max_iter=300), {"C": [0.5, 1.0]}, cv=2).fit(inputs, labels)

if mlflow.__version__ >= "3":
    (made,) = [output.model_id for output in back.outputs.model_outputs] or [None]
    loaded = mlflow.sklearn.load_model(f"models:/{made}")
else:
    loaded = mlflow.sklearn.load_model(f"runs:/{run.info.run_id}/model")
assert numpy.array_equal(loaded.predict(inputs), model.predict(inputs))
print("trained")
