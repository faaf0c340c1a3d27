"""Compresses a model by Intel's neural-compressor. Usage: inc_reference.py <json>; compare.py writes the task.

Version 2.6 is the last that takes ONNX models; it has no float16 for CPUs. Olive is not here: it needs PyTorch with its
libraries for GPUs, and for ONNX models its passes call ONNX Runtime's quantizer or this one.
"""

import json
import sys

import numpy as np
from neural_compressor import PostTrainingQuantConfig, quantization

task = json.loads(sys.argv[1])
method = task["method"]


class Samples:
    """Batches of one sample, as its calibration asks for them."""

    batch_size = 1

    def __iter__(self):
        arrays = np.load(task["calibration"])
        for index in range(task["samples"]):
            yield {name: np.asarray(arrays[name][index]) for name in arrays.files}, 0


blocks = {"bits": 4, "group_size": 32, "scheme": "sym", "algorithm": "RTN"}
configs = {
    "dynamic": {"approach": "dynamic"},
    "static_minmax": {"approach": "static", "quant_format": "QDQ"},
    "weight_only 4": {"approach": "weight_only", "op_type_dict": {".*": {"weight": blocks}}},
    "weight_only 8": {"approach": "weight_only", "op_type_dict": {".*": {"weight": {**blocks, "bits": 8}}}},
}
if method not in configs:
    sys.exit(f"neural-compressor 2.6 has no {method} for ONNX models on CPUs")
made = quantization.fit(task["model"], PostTrainingQuantConfig(**configs[method]), calib_dataloader=Samples())
if made is None:
    sys.exit("neural-compressor made no model")
made.save(task["out"])
