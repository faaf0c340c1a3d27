"""Trains every configuration of three small tasks on scikit-learn's data, and writes the validation loss after each of
27 epochs to `test/fixtures/sweeps/tables`. Samplers are compared on these tables: all see the same trainings. They were
made once, with scikit-learn 1.9.1, in minutes:

    python train-tables.py [task ...]
"""

import itertools
import json
import pathlib
import sys
import warnings

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import log_loss, mean_squared_error
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler

warnings.filterwarnings("ignore")
epochs = 27
folder = pathlib.Path(__file__).parent / "../../../fixtures/sweeps/tables"


def split(load):
    data, target = load(return_X_y=True)
    train, val, train_target, val_target = train_test_split(data, target, test_size=0.3, random_state=0)
    scaler = StandardScaler().fit(train)
    return scaler.transform(train), scaler.transform(val), train_target, val_target


def digits(rate, width, alpha):
    """A perceptron of one hidden layer on handwritten digits."""
    train, val, train_target, val_target = split(load_digits)
    model = MLPClassifier((width,), alpha=alpha, learning_rate_init=rate, batch_size=64, random_state=0)
    for _ in range(epochs):
        model.partial_fit(train, train_target, classes=np.arange(10))
        yield log_loss(val_target, model.predict_proba(val), labels=np.arange(10))


def cancer(rate, alpha, mix):
    """Logistic regression by stochastic gradients on breast cancer."""
    train, val, train_target, val_target = split(load_breast_cancer)
    model = SGDClassifier(
        "log_loss", penalty="elasticnet", alpha=alpha, l1_ratio=mix, learning_rate="constant", eta0=rate, random_state=0
    )
    for _ in range(epochs):
        model.partial_fit(train, train_target, classes=[0, 1])
        yield log_loss(val_target, model.predict_proba(val), labels=[0, 1])


def diabetes(rate, depth, subsample):
    """Gradient boosting on the progression of diabetes; an epoch is two trees."""
    train, val, train_target, val_target = split(load_diabetes)
    model = GradientBoostingRegressor(
        learning_rate=rate, max_depth=depth, subsample=subsample, n_estimators=2 * epochs, random_state=0
    ).fit(train, train_target)
    for at, predicted in enumerate(model.staged_predict(val)):
        if at % 2 == 1:
            yield mean_squared_error(val_target, predicted) / 1000


tasks = {
    "digits": (digits, {"rate": np.geomspace(1e-4, 1e-1, 13), "width": [4, 8, 16, 32], "alpha": np.geomspace(1e-5, 1, 6)}),
    "cancer": (cancer, {"rate": np.geomspace(1e-5, 1e-1, 13), "alpha": np.geomspace(1e-6, 1e-1, 11), "mix": [0, 0.5, 1]}),
    "diabetes": (diabetes, {"rate": np.geomspace(3e-3, 1, 13), "depth": [1, 2, 3, 4, 5, 6], "subsample": [0.2, 0.4, 0.6, 0.8, 1]}),
}

for name in sys.argv[1:] or tasks:
    train, axes = tasks[name]
    rows = []
    for values in itertools.product(*axes.values()):
        curve = list(train(**{key: float(v) if key not in ("width", "depth") else int(v) for key, v in zip(axes, values)}))
        rows.append([float(f"{min(value, 1e6):.5g}") for value in curve])
    table = {"about": train.__doc__, "sizes": {key: len(values) for key, values in axes.items()}, "curves": rows}
    (folder / f"{name}.json").write_text(json.dumps(table, separators=(",", ":")) + "\n")
    final = sorted(row[-1] for row in rows)
    print(name, len(rows), "configurations; best, median, worst:", final[0], final[len(final) // 2], final[-1])
