"""Quantization of weights in blocks of 32 by GPTQ and by least squared error, written in NumPy from the paper.

Frantar et al., GPTQ (2023), with the groups' scales fixed beforehand and columns in the order of the Hessian's diagonal.
Weights are [N, K] here. Run once by make_fixtures.py; the tests compare the engine with what it wrote, level by level.
"""

import numpy as np

BLOCK = 32
SHRINKS = 1 - np.arange(17) / 40


def rounded(x):
    """Half away from zero, of what is not negative."""
    return np.floor(x + 0.5)


def levels(w, scale, zero, bits):
    """Levels 0 to 2^bits - 1 of values, by the reciprocal in float32 as MatMulNBits is quantized."""
    reciprocal = np.where(scale == 0, np.float32(0), np.float32(1) / np.where(scale == 0, np.float32(1), scale))
    shifted = (np.float32(w) * reciprocal).astype(np.float32) + np.float32(zero)
    return np.clip(rounded(np.float64(shifted.astype(np.float32))), 0, 2**bits - 1)


def plain_scale(low, high, bits, symmetric):
    """Scale and zero point of a range that holds zero."""
    middle = 2 ** (bits - 1)
    if symmetric:
        extreme = high if abs(high) > abs(low) else low
        return np.float32(0 if extreme == 0 else extreme / -middle), middle
    most = 2**bits - 1
    scale = np.float32(np.float32(high - low) / np.float32(most))
    zero = 0 if scale == 0 else min(most, max(0, int(np.floor(np.float32(-low / scale) + 0.5))))
    return scale, zero


def best_scale(w, h, bits, symmetric):
    """The range, of those shrunk evenly, whose squared error weighted by h is least; the first of equal ones."""
    low, high = np.float64(min(w.min(), 0)), np.float64(max(w.max(), 0))
    best = None
    for shrink in SHRINKS:
        for sign in (1, -1) if symmetric else (1,):
            pair = (low * shrink, high * shrink) if sign == 1 else (-(high * shrink), -(low * shrink))
            scale, zero = plain_scale(np.float32(pair[0]), np.float32(pair[1]), bits, symmetric)
            q = levels(w, scale, zero, bits)
            error = float(np.sum(h * ((q - zero) * np.float64(scale) - w) ** 2))
            if best is None or error < best[0]:
                best = (error, scale, zero)
    return best[1], best[2]


def gptq(w, moment, bits, symmetric, damping=0.01):
    """Levels [N, K], scales and zero points [N, K / 32] of w for inputs of this second moment.

    An input that was always zero counts as one of mean size: other data may reach its weights.
    """
    n, k = w.shape
    hessian = moment.astype(np.float64).copy()
    mean = np.diag(hessian).mean()
    dead = np.diag(hessian) == 0
    hessian[dead, dead] = mean
    weight = w.astype(np.float64).copy()
    diagonal = np.diag(hessian).copy()
    blocks = -(-k // BLOCK)
    scales, zeros = np.zeros((n, blocks), np.float32), np.zeros((n, blocks), np.int64)
    for row in range(n):
        for block in range(blocks):
            part = slice(block * BLOCK, min(k, (block + 1) * BLOCK))
            scales[row, block], zeros[row, block] = best_scale(weight[row, part], diagonal[part], bits, symmetric)
    order = np.argsort(-diagonal, kind="stable")
    hessian = hessian[np.ix_(order, order)]
    hessian[np.arange(k), np.arange(k)] += damping * mean
    upper = np.linalg.cholesky(np.linalg.inv(hessian)).T
    result = np.zeros((n, k), np.int64)
    for at, column in enumerate(order):
        block = column // BLOCK
        scale, zero = scales[:, block], zeros[:, block]
        q = levels(weight[:, column], scale, zero, bits)
        result[:, column] = q
        error = (weight[:, column] - (q - zero) * scale.astype(np.float64)) / upper[at, at]
        weight[:, order[at + 1 :]] -= np.outer(error, upper[at, at + 1 :])
    return result, scales, zeros
