"""The test models inside the onnx package: light architectures, their weights filled with seeded values, and small ones.

Usage: onnx_models.py <folder>
"""

import pathlib
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
data = pathlib.Path(onnx.__file__).parent / "backend/test/data"


def fill(model):
    """Weights that ConstantOfShape makes become constants: initialized after He by fan-in, variances positive."""
    rng = np.random.default_rng(0)
    shapes = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    users = {}
    for node in model.graph.node:
        for position, name in enumerate(node.input):
            users.setdefault(name, (node.op_type, position))
    kept = []
    for node in model.graph.node:
        shape = shapes.get(node.input[0]) if node.op_type == "ConstantOfShape" else None
        if shape is None:
            kept.append(node)
            continue
        dims = shape.astype(int).tolist()
        user, position = users.get(node.output[0], ("", 0))
        fan = int(np.prod(dims[1:])) if len(dims) > 1 else 1
        values = rng.standard_normal(dims) * (np.sqrt(2 / fan) if len(dims) > 1 else 0.1)
        if user == "BatchNormalization":
            values = np.ones(dims) if position in (1, 4) else np.zeros(dims)
        if user == "Mul":
            values = np.ones(dims)
        tensor = numpy_helper.from_array(values.astype(np.float32), node.output[0])
        model.graph.initializer.append(tensor)
        model.graph.input.append(onnx.helper.make_tensor_value_info(tensor.name, onnx.TensorProto.FLOAT, dims))
    del model.graph.node[:]
    model.graph.node.extend(kept)
    return model


def logits_of(model, name):
    """A value of the model for seeded inputs."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    copy.graph.output.append(onnx.ValueInfoProto(name=name))
    session = onnxruntime.InferenceSession(copy.SerializeToString(), providers=["CPUExecutionProvider"])
    image = session.get_inputs()[0]
    feeds = {image.name: np.random.default_rng(1).standard_normal(image.shape).astype(np.float32)}
    return session.run([name], feeds)[0]


def settle(model):
    """Scales the last layer with weights, so that the Softmax behind it tells classes apart but is not saturated."""
    makers = {name: node for node in model.graph.node for name in node.output}
    softmax = next((node for node in reversed(model.graph.node) if node.op_type == "Softmax"), None)
    last = softmax and makers[softmax.input[0]]
    weights = {tensor.name: tensor for tensor in model.graph.initializer}
    while last is not None and last.op_type not in ("Conv", "Gemm", "MatMul"):
        last = makers.get(last.input[0])
    if last is None:
        return model
    scale = 2 / logits_of(model, softmax.input[0]).std()
    for name in last.input[1:]:
        while name not in weights:
            name = makers[name].input[0]  # a weight that is reshaped first
        values = numpy_helper.to_array(weights[name]) * scale
        weights[name].CopyFrom(numpy_helper.from_array(values.astype(np.float32), name))
    return model


for path in sorted((data / "light").glob("light_*.onnx")):
    if "vgg19" in path.name or "alexnet" in path.name or "zfnet" in path.name:
        # Hundreds of megabytes of fully connected weights: tried with --large alone.
        if "--large" not in sys.argv:
            continue
    onnx.save(settle(fill(onnx.load(path))), folder / f"{path.stem.replace('light_', 'onnx-')}.onnx")
for kind in ("pytorch-converted", "pytorch-operator", "simple"):
    for path in sorted((data / kind).glob("*/model.onnx")):
        (folder / f"onnx-{kind}-{path.parent.name.removeprefix('test_')}.onnx").write_bytes(path.read_bytes())
print(len(list(folder.glob("*.onnx"))), "models")
