"""SparseGPT in NumPy (Frantar and Alistarh, 2023), by an explicit inverse of the Hessian that shrinks column by column."""

import numpy as np


def sparse_gpt(weights, moment, keep, block=128, damping=0.01):
    """`weights` [outputs, inputs]; `keep(saliency)` says which of a block stay. The weights with zeros, updated."""
    w = np.array(weights, dtype=np.float64)
    inputs = w.shape[1]
    hessian = np.array(moment) + damping * np.mean(np.diag(moment)) * np.eye(inputs)

    def inverse_from(column):
        return np.linalg.inv(hessian[column:, column:])

    for start in range(0, inputs, block):
        columns = range(start, min(inputs, start + block))
        pivots = np.array([inverse_from(column)[0, 0] for column in columns])
        stays = keep(w[:, list(columns)] ** 2 / pivots)
        for at, column in enumerate(columns):
            inverse = inverse_from(column)
            removed = np.where(stays[:, at], 0, w[:, column])
            w[:, column:] -= np.outer(removed / inverse[0, 0], inverse[0])
            w[~stays[:, at], column] = 0
    return w


def largest(share):
    def keep(saliency):
        count = int(np.ceil(saliency.size / share))
        stays = np.zeros(saliency.size, bool)
        stays[np.argsort(-saliency.ravel(), kind="stable")[:count]] = True
        return stays.reshape(saliency.shape)

    return keep


def two_of_four(saliency):
    fours = saliency.reshape(len(saliency), -1, 4)
    ranks = np.argsort(np.argsort(-fours, axis=2, kind="stable"), axis=2)
    return (ranks < 2).reshape(saliency.shape)
