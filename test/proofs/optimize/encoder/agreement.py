"""Prints size and retrieval agreement of encoders with the first one.

Usage: agreement.py <search.npz> <float.onnx> <other.onnx>... The agreement is the share of sentences whose nearest other
sentence (cosine of embeddings) is the one that the float model finds.
"""

import sys
from pathlib import Path

import numpy as np
import onnxruntime

arrays = np.load(sys.argv[1])


def embeddings(path: str) -> np.ndarray:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    rows = [
        session.run(None, {name: arrays[name][at : at + 1] for name in arrays.files})[0]
        for at in range(len(arrays["input_ids"]))
    ]
    found = np.concatenate(rows)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def nearest(found: np.ndarray) -> np.ndarray:
    likeness = found @ found.T
    np.fill_diagonal(likeness, -2)
    return likeness.argmax(1)


def size(path: str) -> int:
    data = Path(f"{path}.data")
    return Path(path).stat().st_size + (data.stat().st_size if data.exists() else 0)


truth = embeddings(sys.argv[2])
for path in sys.argv[2:]:
    found = embeddings(path)
    error = np.linalg.norm(found - truth) / np.linalg.norm(truth)
    agreement = (nearest(found) == nearest(truth)).mean()
    print(f"{Path(path).stem:32} {size(path) / 1e6:7.2f} MB  agreement {agreement:.3f}  error {error:.4f}", flush=True)
