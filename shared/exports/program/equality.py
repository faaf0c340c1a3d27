"""Whether an ONNX file gives the same outputs as PyTorch."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict

import numpy as np
import onnxruntime

TOLERANCE = 1e-4
SAMPLES = 32
# Batches of several sizes find what an export has made fixed.
BATCHES = (1, 3, 4, 8, 16)
Arrays = Dict[str, np.ndarray]
ALIASES = {"last_hidden_state": "token_embeddings", "hidden_states": "token_embeddings", "embedding": "sentence_embedding"}


class NotEqual(Exception):
    """A way whose file is not the model."""


def compare_outputs(path: Path, batches: list[Arrays], expected: list[Arrays], needed: set[str]) -> dict[str, Any]:
    """
    Return the largest difference and its output. Numbers above one differ by their share of the output's largest, and
    padding, whose vectors have no meaning, is left out. @throws NotEqual that names the difference
    """
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    given = [one.name for one in session.get_inputs()]
    lacking = [name for name in given if name not in batches[0]]
    if lacking:
        raise NotEqual(f"it has the input {', '.join(lacking)}, which nothing here gives")
    outputs = [one.name for one in session.get_outputs()]
    pairs = {name: ALIASES.get(name, name) for name in outputs if ALIASES.get(name, name) in expected[0]}
    if not pairs and len(outputs) == 1:
        pairs = {outputs[0]: next(iter(expected[0]))}
    if not needed & set(pairs.values()):
        raise NotEqual(f"of its outputs ({', '.join(outputs)[:200]}) none is {' or '.join(sorted(needed))}")
    worst, where = 0.0, next(iter(pairs))
    for batch, wanted in zip(batches, expected):
        found = session.run(list(pairs), {name: batch[name] for name in given})
        for (name, alias), value in zip(pairs.items(), found):
            target = wanted[alias]
            if value.shape != target.shape:
                raise NotEqual(f"its output {name} has the shape {list(value.shape)}, PyTorch's has {list(target.shape)}")
            if target.ndim == 3 and "attention_mask" in batch and target.shape[1] == batch["attention_mask"].shape[1]:
                real = batch["attention_mask"].astype(bool)
                value, target = value[real], target[real]
            difference = np.abs(value.astype(np.float64) - target) / max(1.0, float(np.abs(target).max(initial=0)))
            largest = float(difference.max(initial=0)) if np.isfinite(difference).all() else float("inf")
            if largest > worst:
                worst, where = largest, name
    if not worst <= TOLERANCE:
        raise NotEqual(f"its output {where} differs from PyTorch's by {worst:.3g} (at most {TOLERANCE})")
    samples = sum(len(next(iter(batch.values()))) for batch in batches)
    return {"inputs": given, "equality": {"samples": samples, "largest_difference": worst, "output": where, "tolerance": TOLERANCE}}
