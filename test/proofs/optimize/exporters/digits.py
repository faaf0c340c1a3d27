"""scikit-learn's handwritten digits, split the same way for every exporter, and how a model of them is kept."""

import pathlib

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


def load():
    """Images as floats in [0, 1], [n, 64], and labels: to train, to test."""
    images, labels = load_digits(return_X_y=True)
    images = (images / 16).astype(np.float32)
    train_x, test_x, train_y, test_y = train_test_split(images, labels, test_size=0.2, random_state=0, stratify=labels)
    return train_x, train_y, test_x, test_y


def keep(folder, name, model_bytes, input_name, inputs, labels):
    """Writes a model and what it is evaluated with: `inputs` under the name of the model's input, and labels if any."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.onnx").write_bytes(model_bytes)
    arrays = {input_name: inputs} if labels is None else {input_name: inputs, "labels": labels}
    np.savez(folder / f"{name}.npz", **arrays)
    print(f"{name}: {len(model_bytes)} bytes")
