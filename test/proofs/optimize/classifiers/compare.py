"""Prunes trained classifiers with the engine and with torch-pruning, without training on, and prints one table.

Usage: compare.py <folder> <node> <launch.mjs>. Three networks for scikit-learn's handwritten digits. The engine prunes first;
torch-pruning then removes the channels of least L2 norm (its MagnitudePruner) from the same network, as few as leave it no more
parameters than `structured_reconstruct` did. Accuracy is that on digits that neither training nor calibration saw.
"""

import copy
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import torch
import torch_pruning
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

folder, engine = Path(sys.argv[1]), sys.argv[2:4]
CALIBRATING = 512


class Perceptron(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Flatten(), nn.Linear(64, 1024), nn.ReLU(), nn.Linear(1024, 512), nn.ReLU(), nn.Linear(512, 10))


class Plain(nn.Sequential):
    def __init__(self):
        layers = []
        for inputs, outputs in ((1, 64), (64, 64), (64, 128), (128, 128)):
            layers += [nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU()]
        layers.insert(6, nn.MaxPool2d(2))
        super().__init__(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, 10))


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(
            *(nn.Conv2d(width, 2 * width, 3, padding=1, bias=False), nn.BatchNorm2d(2 * width), nn.ReLU()),
            *(nn.Conv2d(2 * width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width)),
        )

    def forward(self, x):
        return torch.relu(x + self.body(x))


class Residual(nn.Sequential):
    def __init__(self, width=48):
        stem = (nn.Conv2d(1, width, 3, padding=1), nn.ReLU())
        super().__init__(*stem, Block(width), nn.MaxPool2d(2), Block(width), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 10))


def data():
    images, labels = load_digits(return_X_y=True)
    images = (images / 16).astype(np.float32).reshape(-1, 1, 8, 8)
    return train_test_split(images, labels, test_size=0.2, random_state=0, stratify=labels)


def train(model, x, y):
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    model.train()
    for _ in range(12):
        for batch in torch.randperm(len(x)).split(32):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x[batch]), y[batch]).backward()
            optimizer.step()
    return model.eval()


def parameters(model):
    return sum(one.numel() for one in model.parameters())


def accuracy(model, x, y):
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


def ours(name, strategy, compression):
    """The receipt of the engine."""
    out = folder / f"{name}-{strategy}-{compression}.onnx"
    sets = ["--calibration", str(folder / "calibration.npz"), "--evaluation", str(folder / "test.npz")]
    method = ["--strategy", strategy, "--compression", str(compression), "--force", "--out", str(out)]
    subprocess.run([*engine, "prune", str(folder / f"{name}.onnx"), *method, *sets], check=True, capture_output=True)
    return json.loads(out.with_suffix(".receipt.json").read_text())


def pruned(model, ratio, everywhere):
    copied = copy.deepcopy(model)
    torch_pruning.pruner.MagnitudePruner(
        copied,
        torch.zeros(1, 1, 8, 8),
        importance=torch_pruning.importance.MagnitudeImportance(p=2),
        global_pruning=everywhere,
        pruning_ratio=ratio,
        ignored_layers=[[one for one in copied.modules() if isinstance(one, nn.Linear)][-1]],
    ).step()
    return copied


def theirs(model, most, everywhere):
    """The least pruned model of at most so many parameters."""
    low, high = 0.0, 0.98
    for _ in range(12):
        middle = (low + high) / 2
        if parameters(pruned(model, middle, everywhere)) <= most:
            high = middle
        else:
            low = middle
    return pruned(model, high, everywhere)


def cell(share, count):
    return f"{100 * share:.2f} % ({count:,})"


torch.manual_seed(0)
torch.set_num_threads(1)
train_x, test_x, train_y, test_y = data()
np.savez(folder / "calibration.npz", image=train_x[:CALIBRATING])
np.savez(folder / "test.npz", image=test_x, labels=test_y)
x, y, seen, wanted = (torch.tensor(one) for one in (train_x, train_y, test_x, test_y))
legacy = {"dynamo": False} if int(torch.__version__.split(".")[0]) >= 2 else {}
names = {"input_names": ["image"], "output_names": ["digit"], "dynamic_axes": {"image": {0: "batch"}, "digit": {0: "batch"}}}
print("| classifier | kept | structured_l2 | structured_reconstruct | torch-pruning, magnitude | the same, over all layers |")
print("|---|---|---|---|---|---|")
for architecture in (Perceptron, Plain, Residual):
    name = architecture.__name__.lower()
    model = train(architecture(), x, y)
    torch.onnx.export(model, torch.zeros(1, 1, 8, 8), str(folder / f"{name}.onnx"), opset_version=16, **names, **legacy)
    whole = accuracy(model, seen, wanted)
    print(f"| {name} | all | {cell(whole, parameters(model))} | | | |", flush=True)
    for compression, kept in ((2, "half"), (4, "a quarter")):
        cells = []
        for strategy in ("structured_l2", "structured_reconstruct"):
            receipt = ours(name, strategy, compression)
            cells.append(cell(receipt["accuracy"]["after"], receipt["parameters"]["after"]))
            most = receipt["parameters"]["after"]
        for everywhere in (False, True):
            other = theirs(model, most, everywhere)
            cells.append(cell(accuracy(other, seen, wanted), parameters(other)))
        print(f"| {name} | {kept} | {' | '.join(cells)} |", flush=True)
