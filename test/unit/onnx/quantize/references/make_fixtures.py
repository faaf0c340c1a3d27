"""Writes what the methods of this folder answer for small weights, for the tests. Run once: make_fixtures.py"""

import base64
import json
from pathlib import Path

import numpy as np
from block_methods import BLOCK, best_scale, gptq, levels

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
