"""Fill a store of MLflow with runs like those of the demo, by its own store class, and print the experiment's id."""

import math
import random
import sys
import time

from mlflow.entities import Metric, Param, RunStatus, RunTag
from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore

address, count = sys.argv[1], int(sys.argv[2])
store = SqlAlchemyStore(address, "mlflow-artifacts:/")
experiment = store.create_experiment("10,000 runs")
models = ["resnet18", "resnet50", "mobilenet_v2", "vit_tiny", "convnext_s"]
drawn = random.Random(1)
begun = int(time.time() * 1000) - count * 97_000
for index in range(count):
    start = begun + index * 97_000
    model, optimizer = drawn.choice(models), drawn.choice(["adam", "adamw", "sgd"])
    run = store.create_run(experiment, "bench", start, [], f"{model}-{optimizer}-{index}")
    given = {"model": model, "optimizer": optimizer, "lr": 10 ** (-4 + 3 * drawn.random()), "batch_size": 32,
             "dropout": drawn.random() / 2, "seed": index % 10}
    # The page reads the last values; whole curves would take hours to store.
    metrics = [Metric(name, 1 - math.exp(-drawn.random() * 3), start, 40) for name in ("accuracy", "loss", "val_accuracy")]
    params = [Param(name, str(value)) for name, value in given.items()]
    store.log_batch(run.info.run_id, metrics, params, [RunTag("block", str(index // 400))])
    store.update_run_info(run.info.run_id, RunStatus.FINISHED, start + 440_000, None)
print(experiment)
