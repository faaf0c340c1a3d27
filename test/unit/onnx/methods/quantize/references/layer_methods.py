"""Methods that change layers before 8-bit quantization, written in NumPy from the papers.

SmoothQuant (Xiao et al., 2023), cross-layer equalization and bias correction (Nagel et al., 2019), and ranges by least
squared error. Weights are [inputs, outputs] here. Run once by make_fixtures.py.
"""

import numpy as np


def smoothing(activation, weights, alpha):
    """Factors by which each channel of an activation is divided, for the products that take it."""
    largest = np.max([np.abs(w).max(1) for w in weights], axis=0).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        factors = activation**alpha / largest ** (1 - alpha)
    return np.where((activation > 0) & (largest > 0), np.clip(factors, 1e-4, 1e4), 1).astype(np.float32)


def equalized(first, second, rounds=20):
    """Two weights with nothing but Relu between them, and the factor of each channel in the first."""
    factors = np.ones(first.shape[1])
    for _ in range(rounds):
        one, other = np.abs(first).max(0) * factors, np.abs(second).max(1) / factors
        step = np.sqrt(one / other)
        factors = factors / step
        if np.abs(np.log(step)).max() < 1e-3:
            break
    return (first * factors).astype(np.float32), (second / factors[:, None]).astype(np.float32), factors


def mean_error(w, mean):
    """What symmetric int8 by output channel takes from each output on average."""
    scale = (np.float32(2) * np.abs(w).max(0) / np.float64(254)).astype(np.float32)
    levels = np.clip(np.round((w / scale).astype(np.float32)), -128, 127)
    return mean @ (w.astype(np.float64) - levels * scale.astype(np.float64))


def range_error(values, counts, low, high):
    step = (high - low) / 255
    beyond = np.maximum(0, values - high) + np.maximum(0, low - values)
    return np.sum(counts * np.where(beyond > 0, beyond**2, step**2 / 12))


def least_error_range(values, counts):
    """Either end shrunk in 60 steps to a twentieth, one after the other, twice."""
    full = best = (min(values.min(), 0.0), max(values.max(), 0.0))
    least = range_error(values, counts, *best)
    for _ in range(2):
        for end in (1, 0):
            for step in range(1, 61):
                share = 1 - (0.95 * step) / 60
                candidate = (best[0], full[1] * share) if end == 1 else (full[0] * share, best[1])
                error = range_error(values, counts, *candidate)
                if error < least:
                    best, least = candidate, error
    return best
