"""Structured pruning with reconstruction, in NumPy: the order of channels, and the weights that make up for the others.

Written from the definitions, with explicit inverses and the whole matrices at every step; the engine follows columns.
"""

import numpy as np


def scaled_outputs(covariance, weights, kernel):
    """The weights with every output scaled to a variance of 1. Columns of one output lie side by side."""
    variances = np.einsum("ij,ik,kj->j", weights, covariance, weights).reshape(-1, kernel).sum(1)
    return weights / np.sqrt(np.repeat(variances, kernel))


def order_of(covariance, weights, sets, kernel=1):
    """Sets in the order in which they are kept, and by how much each lowers the squared error of the output."""
    w = scaled_outputs(covariance, weights, kernel)
    channels = len(covariance)
    kept, order = [], []
    left = dict(enumerate(sets))

    def error(keep):
        rest = np.setdiff1d(np.arange(channels), keep)
        if len(rest) == 0:
            return 0.0
        part = covariance[np.ix_(rest, rest)]
        if len(keep):
            cross = covariance[np.ix_(rest, keep)]
            part = part - cross @ np.linalg.solve(covariance[np.ix_(keep, keep)], cross.T)
        return np.trace(w[rest].T @ part @ w[rest])

    while left:
        now = error(kept)
        gains = {name: now - error(kept + list(places)) for name, places in left.items()}
        best = max(gains, key=lambda name: (gains[name], -name))
        order.append((best, gains[best]))
        kept += list(left.pop(best))
    return order


def compensated(moment, weights, kept, ridge=1e-3):
    """The kept rows of the weight, changed so that they answer for the removed ones."""
    removed = np.setdiff1d(np.arange(len(moment)), kept)
    part = moment[np.ix_(kept, kept)]
    part = part + ridge * np.mean(np.diag(part)) * np.eye(len(kept))
    return weights[kept] + np.linalg.inv(part) @ moment[np.ix_(kept, removed)] @ weights[removed]
