"""Writes the fixtures of this folder: `python make_fixtures.py`, with numpy installed."""

import json
from pathlib import Path

import numpy as np
from reconstruction import compensated, order_of
from sparse_gpt import largest, sparse_gpt, two_of_four

here = Path(__file__).parent
rng = np.random.default_rng(18)


def numbers(values):
    return np.asarray(values, dtype=np.float64).ravel().tolist()


def reconstruction(channels, outputs, kernel, sets):
    mixing = rng.standard_normal((channels, channels)) * rng.uniform(0.1, 2, channels)
    samples = np.maximum(rng.standard_normal((400, channels)) @ mixing, 0)
    mean = samples.mean(0)
    covariance = samples.T @ samples / 400 - np.outer(mean, mean)
    weights = rng.standard_normal((channels, outputs * kernel))
    order = order_of(covariance, weights, sets, kernel)
    kept = sorted(place for name, _ in order[: len(order) // 2] for place in sets[name])
    return {
        "channels": channels,
        "kernel": kernel,
        "sets": sets,
        "covariance": numbers(covariance),
        "weights": numbers(weights),
        "order": [name for name, _ in order],
        "gains": numbers([gain for _, gain in order]),
        "kept": kept,
        "compensated": numbers(compensated(covariance, weights, kept)),
    }


cases = [
    reconstruction(12, 5, 1, [[at] for at in range(12)]),
    reconstruction(10, 3, 9, [[at] for at in range(10)]),
    reconstruction(12, 6, 1, [[at, at + 1, at + 2] for at in range(0, 12, 3)]),
]
(here / "reconstruction.json").write_text(json.dumps(cases))


def update(outputs, inputs, block, compression):
    mixing = rng.standard_normal((inputs, inputs))
    samples = rng.standard_normal((600, inputs)) @ mixing
    moment = samples.T @ samples / 600
    weights = rng.standard_normal((outputs, inputs))
    keep = two_of_four if compression == 0 else largest(compression)
    return {
        "outputs": outputs,
        "inputs": inputs,
        "block": block,
        "compression": compression,
        "moment": numbers(moment),
        "weights": numbers(weights),
        "updated": numbers(sparse_gpt(weights, moment, keep, block)),
    }


updates = [update(6, 24, 128, 2), update(3, 20, 128, 0), update(2, 36, 16, 3)]
(here / "sparse-gpt.json").write_text(json.dumps(updates))
