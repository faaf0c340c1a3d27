"""Models that no package brings along, and inputs for them: python made_models.py <folder>; prints their paths as JSON."""

import json
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def tensor(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def weight(name, *shape):
    values = np.random.default_rng(7).standard_normal(shape, dtype=np.float32)
    return numpy_helper.from_array(values * np.float32(0.02), name)


def model(name, nodes, inputs, outputs, weights=()):
    made = [helper.make_node(kind, takes, gives, **more) for kind, takes, gives, more in nodes]
    graph = helper.make_graph(made, name, inputs, outputs, list(weights))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def dynamic():
    """Every axis but that of the features has a name, and the output's length depends on the input's."""
    nodes = [
        ("MatMul", ["x", "w"], ["h"], {}),
        ("Relu", ["h"], ["r"], {}),
        ("Softmax", ["r"], ["y"], {"axis": -1}),
    ]
    return model("dynamic", nodes, [tensor("x", ["batch", "time", 16])], [tensor("y", ["batch", "time", 5])], [weight("w", 16, 5)])


def text():
    """Texts in, texts out, and which of them are equal."""
    kinds = [tensor("left", ["n"], TensorProto.STRING), tensor("right", ["n"], TensorProto.STRING)]
    nodes = [("StringConcat", ["left", "right"], ["joined"], {}), ("Equal", ["left", "right"], ["same"], {})]
    return model("text", nodes, kinds, [tensor("joined", ["n"], TensorProto.STRING), tensor("same", ["n"], TensorProto.BOOL)])


def state():
    """A GRU whose caller keeps the hidden state: what comes out as `state_out` goes in as `state`."""
    nodes = [("GRU", ["x", "w", "r", "", "", "state"], ["y", "state_out"], {"hidden_size": 8})]
    return model(
        "state", nodes, [tensor("x", ["time", 1, 4]), tensor("state", [1, 1, 8])],
        [tensor("y", ["time", 1, 1, 8]), tensor("state_out", [1, 1, 8])], [weight("w", 1, 24, 4), weight("r", 1, 24, 8)],
    )


def feeds(name, rng):
    """Inputs of a model of this file."""
    words = np.array(["", "mañana", "ภาษาไทย", "a" * 300], dtype=np.object_)
    drawn = {
        "dynamic": lambda: {"x": rng.random((3, 7, 16), dtype=np.float32)},
        "text": lambda: {"left": words, "right": words[[0, 2, 1, 3]]},
        "state": lambda: {"x": rng.random((5, 1, 4), dtype=np.float32), "state": rng.random((1, 1, 8), dtype=np.float32)},
    }
    return drawn[name]()


NAMES = ("dynamic", "text", "state")

if __name__ == "__main__":
    paths = {}
    for make in (dynamic, text, state):
        path = Path(sys.argv[1]) / f"{make.__name__}.onnx"
        if not path.exists():
            onnx.save(make(), path)
        paths[make.__name__] = str(path)
    print(json.dumps(paths))
