"""Fits a logistic regression by gradient descent, and goes on from its last checkpoint after an interruption.

It needs nothing but Python. A data set, if there is one, has a `points.csv` with the columns x, y and label (0 or 1);
without one the points are drawn from the seed.
"""

import csv
import json
import math
import os
import random
import sys
import time
from pathlib import Path

OUTPUT = Path(os.environ.get("OUTPUT_DIR", "output"))
CHECKPOINT = Path(os.environ.get("CHECKPOINT_DIR", "checkpoints")) / "state.json"
METRICS = Path(os.environ.get("METRICS_FILE", "metrics.jsonl"))


def points_of(config):
    """Rows of (x, y, label) from the data set, or drawn around two centres."""
    table = Path(os.environ.get("DATA_DIR") or ".") / "points.csv"
    if table.exists():
        with table.open(newline="") as file:
            return [(float(row["x"]), float(row["y"]), int(row["label"])) for row in csv.DictReader(file)]
    draw = random.Random(config["seed"])
    centres = [(-1, -1), (1, 1)]
    labels = [index % 2 for index in range(config["points"])]
    return [(draw.gauss(centres[label][0], 1), draw.gauss(centres[label][1], 1), label) for label in labels]


def probability(weights, x, y):
    return 1 / (1 + math.exp(-(weights[0] * x + weights[1] * y + weights[2])))


def train_epoch(weights, points, rate):
    """One step of gradient descent over all points. Returns the new weights and the mean cross-entropy before it."""
    gradient = [0.0, 0.0, 0.0]
    loss = 0.0
    for x, y, label in points:
        guess = min(max(probability(weights, x, y), 1e-12), 1 - 1e-12)
        loss -= math.log(guess if label else 1 - guess)
        for index, value in enumerate((x, y, 1)):
            gradient[index] += (guess - label) * value
    return [weight - rate * slope / len(points) for weight, slope in zip(weights, gradient)], loss / len(points)


def accuracy(weights, points):
    return sum((probability(weights, x, y) > 0.5) == bool(label) for x, y, label in points) / len(points)


def save(state):
    """Writes the checkpoint beside its place and renames it, so that it is there whole or not at all."""
    CHECKPOINT.parent.mkdir(parents=True, exist_ok=True)
    unfinished = CHECKPOINT.with_suffix(".tmp")
    unfinished.write_text(json.dumps(state))
    os.replace(unfinished, CHECKPOINT)


def main():
    config = json.loads(Path(sys.argv[1]).read_text())
    points = points_of(config)
    held_back = len(points) // 5
    validation, training = points[:held_back], points[held_back:]
    state = {"epoch": 0, "weights": [0.0, 0.0, 0.0]}
    if CHECKPOINT.exists():
        state = json.loads(CHECKPOINT.read_text())
        print(f"resumed after epoch {state['epoch']}", flush=True)
    for epoch in range(state["epoch"] + 1, config["epochs"] + 1):
        weights, loss = train_epoch(state["weights"], training, config["learning_rate"])
        state = {"epoch": epoch, "weights": weights}
        score = accuracy(weights, validation)
        with METRICS.open("a") as metrics:
            for name, value in (("loss", loss), ("val_accuracy", score)):
                print(json.dumps({"name": name, "value": value, "step": epoch}), file=metrics)
        print(f"epoch {epoch}: loss {loss:.4f}, validation accuracy {score:.3f}", flush=True)
        save(state)
        time.sleep(config["seconds_each"])
    OUTPUT.mkdir(parents=True, exist_ok=True)
    (OUTPUT / "model.json").write_text(json.dumps({"weights": state["weights"]}))


if __name__ == "__main__":
    main()
