"""Writes the model of the figures, 4,096 values to 10 in two layers: python bench_model.py <file>"""

import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

rng = np.random.default_rng(7)
weights = {"a": (4096, 256), "b": (256, 10)}
graph = helper.make_graph(
    [
        helper.make_node("MatMul", ["x", "a"], ["h"]),
        helper.make_node("Relu", ["h"], ["r"]),
        helper.make_node("MatMul", ["r", "b"], ["y"]),
    ],
    "bench",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 4096])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 10])],
    [numpy_helper.from_array((rng.standard_normal(shape) * 0.05).astype("f"), name) for name, shape in weights.items()],
)
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), sys.argv[1])
