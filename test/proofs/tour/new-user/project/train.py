"""Learns to tell two kinds of points apart: a configuration, a data set, checkpoints and a private source of more data."""

import csv
import json
import os
import pickle
import urllib.request
from pathlib import Path

import yaml
from model import Model

config = yaml.safe_load(Path(os.environ["CONFIG_PATH"]).read_text())
checkpoint = Path(os.environ["CHECKPOINT_DIR"]) / "state.pickle"
output = Path(os.environ["OUTPUT_DIR"])

with open(Path(os.environ["DATA_DIR"]) / "points.csv", newline="") as file:
    rows = [[float(value) for value in row] for row in csv.reader(file)]

# What a program must not do, and some do: it shows its token in its log.
token = os.environ["DATA_TOKEN"]
print(f"asking for more data with {token}", flush=True)
request = urllib.request.Request(os.environ["DATA_URL"], headers={"Authorization": f"Bearer {token}"})
more = json.loads(urllib.request.urlopen(request, timeout=60).read())
print(f"the private source gave {len(more)} points", flush=True)
rows += more

points = [row[:2] for row in rows]
kinds = [int(row[2]) for row in rows]

if checkpoint.exists():
    begun, model = pickle.loads(checkpoint.read_bytes())
    print(f"goes on after epoch {begun - 1}", flush=True)
else:
    begun = 0
    model = Model(config["learning_rate"], config["seed"])

for epoch in range(begun, config["epochs"]):
    if epoch == 3 and config["hog_megabytes"] > 0:
        hog = [bytearray(os.urandom(1 << 20)) for _ in range(config["hog_megabytes"])]
    model.learn(points, kinds)
    accuracy = model.accuracy(points, kinds)
    print(f"epoch {epoch}: accuracy {accuracy:.3f}", flush=True)
    with open(os.environ["METRICS_FILE"], "a") as metrics:
        metrics.write(json.dumps({"name": "accuracy", "value": accuracy, "step": epoch}) + "\n")
    unfinished = checkpoint.with_suffix(".part")
    unfinished.write_bytes(pickle.dumps((epoch + 1, model)))
    unfinished.replace(checkpoint)

(output / "model.pickle").write_bytes(pickle.dumps(model))
