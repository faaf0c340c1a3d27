"""Writes what the methods of this folder answer for small weights, for the tests. Run once: make_fixtures.py"""

import base64
import json
from pathlib import Path

import numpy as np
from block_methods import BLOCK, best_scale, gptq, levels
from layer_methods import equalized, least_error_range, mean_error, smoothing

folder = Path(__file__).parent


def packed(array, kind):
    return base64.b64encode(np.ascontiguousarray(array, kind).tobytes()).decode()


def blocks_of(found, scales, zeros):
    return {"levels": packed(found, np.uint8), "scales": packed(scales, np.float32), "zeros": packed(zeros, np.uint8)}


def block_cases():
    random = np.random.default_rng(7)
    n, k, rows = 5, 80, 240
    w = (random.standard_normal((n, k)) * np.exp(random.standard_normal((1, k)) / 2)).astype(np.float32)
    w[1, 3], w[2, 32:64] = 9, 0
    x = random.standard_normal((rows, 12)) @ random.standard_normal((12, k)) + random.standard_normal((rows, k)) / 4
    x[:, 17] = 0
    x[:, 50] *= 30
    moment = x.T @ x / rows
    cases = []
    for bits, symmetric in ((4, True), (4, False), (8, True), (8, False)):
        found, scales, zeros = gptq(w, moment, bits, symmetric)
        plain, plain_scales, plain_zeros = np.zeros_like(found), np.zeros_like(scales), np.zeros_like(zeros)
        for row in range(n):
            for block in range(scales.shape[1]):
                part = slice(block * BLOCK, min(k, (block + 1) * BLOCK))
                values = w[row, part].astype(np.float64)
                scale, zero = best_scale(values, np.ones(len(values)), bits, symmetric)
                plain_scales[row, block], plain_zeros[row, block] = scale, zero
                plain[row, part] = levels(values, scale, zero, bits)
        cases.append(
            {
                "bits": bits,
                "symmetric": symmetric,
                "gptq": blocks_of(found, scales, zeros),
                "least_error": blocks_of(plain, plain_scales, plain_zeros),
            }
        )
    return {"n": n, "k": k, "weight": packed(w, np.float32), "moment": packed(moment, np.float64), "cases": cases}


(folder / "blocks.json").write_text(json.dumps(block_cases(), indent=1) + "\n")


def layer_cases():
    random = np.random.default_rng(11)
    first = (random.standard_normal((6, 8)) * np.exp(random.standard_normal((1, 8)))).astype(np.float32)
    second = (random.standard_normal((8, 5)) * np.exp(random.standard_normal((8, 1)))).astype(np.float32)
    activation = np.float64(np.exp(3 * random.standard_normal(6)))
    activation[4] = 0
    mean = random.standard_normal(6)
    one, other, factors = equalized(first, second)
    values = np.sort(random.standard_t(3, 400))
    counts = random.integers(1, 9, 400).astype(np.float64)
    return {
        "first": packed(first, np.float32),
        "second": packed(second, np.float32),
        "activation": activation.tolist(),
        "smoothing": [
            {"alpha": alpha, "factors": packed(smoothing(activation, [first], alpha), np.float32)} for alpha in (0.5, 0.7, 1)
        ],
        "equalized": {"first": packed(one, np.float32), "second": packed(other, np.float32), "factors": factors.tolist()},
        "mean": mean.tolist(),
        "mean_error": mean_error(first, mean).tolist(),
        "range": {"values": values.tolist(), "counts": counts.tolist(), "best": list(least_error_range(values, counts))},
    }


(folder / "layers.json").write_text(json.dumps(layer_cases(), indent=1) + "\n")
