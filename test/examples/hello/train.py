"""Tells three species of penguins apart by four measurements, with a small neural network in plain Python.

The measurements were taken by K. B. Gorman at Palmer Station, Antarctica, and are in the public domain (CC0;
https://doi.org/10.1371/journal.pone.0090081).
"""

import csv
import json
import math
import os
import random
from pathlib import Path

FOLDER = Path(__file__).parent
CONFIG = Path(os.environ.get("CONFIG_PATH", FOLDER / "train.yaml"))
OUTPUT = Path(os.environ.get("OUTPUT_DIR", "output"))
METRICS = Path(os.environ.get("METRICS_FILE", "metrics.jsonl"))
DEFAULTS = {"epochs": 120, "learning_rate": 0.02, "batch_size": 32, "hidden": 32, "seed": 1}


def read_config():
    """Lines of `name: number`, which is all the YAML that this program has."""
    pairs = (line.partition("#")[0].partition(":") for line in CONFIG.read_text().splitlines())
    return {**DEFAULTS, **{name.strip(): json.loads(value) for name, _, value in pairs if value.strip()}}


def read_penguins():
    """What a model must know of the data, and each penguin as its measurements (mean 0, deviation 1) and species."""
    with (FOLDER / "penguins.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    names = [name for name in rows[0] if name != "species"]
    columns = [[float(row[name]) for row in rows] for name in names]
    means = [sum(column) / len(rows) for column in columns]
    spreads = [math.sqrt(sum((x - mean) ** 2 for x in column) / len(rows)) for column, mean in zip(columns, means)]
    species = sorted({row["species"] for row in rows})
    points = zip(*([(x - mean) / spread for x in column] for column, mean, spread in zip(columns, means, spreads)))
    penguins = [(point, species.index(row["species"])) for point, row in zip(points, rows)]
    return {"species": species, "measurements": names, "means": means, "deviations": spreads}, penguins


def new_layer(draw, inputs, outputs):
    """A row of weights for each output; the last one of a row is its bias."""
    return [[draw.gauss(0, 1 / math.sqrt(inputs)) for _ in range(inputs)] + [0.0] for _ in range(outputs)]


def apply(layer, values):
    return [sum(weight * value for weight, value in zip(row, values)) + row[-1] for row in layer]


def predict(network, point):
    """The hidden values, and the probability of each species."""
    hidden = [math.tanh(value) for value in apply(network[0], point)]
    scores = apply(network[1], hidden)
    powers = [math.exp(score - max(scores)) for score in scores]
    return hidden, [power / sum(powers) for power in powers]


def slopes_of(network, batch):
    """By how much the loss of a batch grows with each weight (backpropagation)."""
    slopes = [[[0.0] * len(row) for row in layer] for layer in network]
    for point, label in batch:
        hidden, guesses = predict(network, point)
        errors = [guess - (index == label) for index, guess in enumerate(guesses)]
        back = [sum(error * row[index] for error, row in zip(errors, network[1])) for index in range(len(hidden))]
        hidden_errors = [error * (1 - value * value) for error, value in zip(back, hidden)]
        for layer, all_errors, inputs in ((slopes[0], hidden_errors, point), (slopes[1], errors, hidden)):
            for row, error in zip(layer, all_errors):
                for index, value in enumerate([*inputs, 1]):
                    row[index] += error * value / len(batch)
    return slopes


def train_epoch(network, penguins, rate, size):
    """One step of gradient descent for each batch."""
    for start in range(0, len(penguins), size):
        slopes = slopes_of(network, penguins[start : start + size])
        for layer, layer_slopes in zip(network, slopes):
            for row, row_slopes in zip(layer, layer_slopes):
                for index, slope in enumerate(row_slopes):
                    row[index] -= rate * slope


def judge(network, penguins):
    """The mean cross-entropy, and the share of penguins whose species it tells."""
    guesses = [(predict(network, point)[1], label) for point, label in penguins]
    loss = -sum(math.log(max(guess[label], 1e-12)) for guess, label in guesses) / len(guesses)
    return loss, sum(guess.index(max(guess)) == label for guess, label in guesses) / len(guesses)


def main():
    config = read_config()
    draw = random.Random(config["seed"])
    about, penguins = read_penguins()
    draw.shuffle(penguins)
    held_back = len(penguins) // 4
    validation, training = penguins[:held_back], penguins[held_back:]
    print(f"{len(training)} penguins to learn from, {held_back} to be judged by", flush=True)
    sizes = [len(about["measurements"]), config["hidden"], len(about["species"])]
    network = [new_layer(draw, inputs, outputs) for inputs, outputs in zip(sizes, sizes[1:])]
    with METRICS.open("a") as metrics:
        for epoch in range(1, config["epochs"] + 1):
            draw.shuffle(training)
            train_epoch(network, training, config["learning_rate"], config["batch_size"])
            loss, accuracy = judge(network, training)
            val_loss, val_accuracy = judge(network, validation)
            values = {"loss": loss, "accuracy": accuracy, "val_loss": val_loss, "val_accuracy": val_accuracy}
            for name, value in values.items():
                print(json.dumps({"name": name, "value": value, "step": epoch}), file=metrics, flush=True)
            print(f"epoch {epoch}:", *(f"{name} {value:.4f}" for name, value in values.items()), flush=True)
    OUTPUT.mkdir(parents=True, exist_ok=True)
    (OUTPUT / "model.json").write_text(json.dumps({**about, "network": network}, indent=2))


main()
