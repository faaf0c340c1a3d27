"""The one file that feeds both quantizers, and the data. Usage: prepare.py <json>

Shapes are inferred, nothing is optimized. Without a `set` the data are drawn from a normal distribution; from a set
the first half calibrates, the other half judges.
"""

import json
import sys

import numpy as np
import onnx
from onnxruntime.quantization import quant_pre_process

task = json.loads(sys.argv[1])
try:
    quant_pre_process(task["model"], task["out"], skip_optimization=True)
except AssertionError:
    # The symbolic inference of ONNX Runtime asserts what not every Reshape of an exporter fulfils; ONNX's own does not.
    quant_pre_process(task["model"], task["out"], skip_optimization=True, skip_symbolic_shape=True)
model = onnx.load(task["out"], load_external_data=False)
names = {tensor.name for tensor in model.graph.initializer}
graph_input = next(value for value in model.graph.input if value.name not in names)
if task["set"] is None:
    dims = [dim.dim_value for dim in graph_input.type.tensor_type.shape.dim]
    for path, count, seed in ((task["calibration"], task["samples"], 1), (task["evaluation"], 8, 2)):
        values = np.random.default_rng(seed).standard_normal([count, *dims[1:]], np.float32)
        np.savez(path, **{graph_input.name: values})
else:
    arrays = np.load(task["set"])
    half = len(arrays["labels"]) // 2
    np.savez(task["calibration"], **{graph_input.name: arrays[graph_input.name][: min(half, task["samples"])]})
    np.savez(task["evaluation"], **{name: arrays[name][half:] for name in (graph_input.name, "labels")})
