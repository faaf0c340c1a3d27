"""The test models inside the onnx package: light architectures, their weights filled with seeded values, and small ones.

Usage: onnx_models.py <folder> [--without-large]
"""

import pathlib
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper, version_converter

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
data = pathlib.Path(onnx.__file__).parent / "backend/test/data"


def gain(model, output):
    """Variance that a layer may add, by what its normalized output goes into: Relu halves it, a sum keeps it all."""
    users = [node for node in model.graph.node if output in node.input]
    if len(users) == 1 and users[0].op_type == "BatchNormalization":
        return gain(model, users[0].output[0])
    kinds = {node.op_type for node in users}
    return 2 if "Relu" in kinds else 0.1 if kinds & {"Sum", "Add"} else 1


def fill(model):
    """Weights that ConstantOfShape makes become constants: by fan-in (He), variances 1."""
    rng = np.random.default_rng(0)
    shapes = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    users = {}
    for node in model.graph.node:
        for position, name in enumerate(node.input):
            users.setdefault(name, (node.op_type, position, node.output[0]))
    kept = []
    for node in model.graph.node:
        shape = shapes.get(node.input[0]) if node.op_type == "ConstantOfShape" else None
        if shape is None:
            kept.append(node)
            continue
        dims = shape.astype(int).tolist()
        user, position, output = users.get(node.output[0], ("", 0, ""))
        fan = int(np.prod(dims[1:])) if len(dims) > 1 else 1
        values = rng.standard_normal(dims) * (np.sqrt(gain(model, output) / fan) if len(dims) > 1 else 0.1)
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


# Hundreds of megabytes of fully connected weights.
large = ("vgg19", "alexnet", "zfnet")

for path in sorted((data / "light").glob("light_*.onnx")):
    is_large = any(name in path.name for name in large)
    if is_large and "--without-large" in sys.argv:
        continue
    model = settle(fill(onnx.load(path)))
    onnx.save(model, folder / f"{path.stem.replace('light_', 'onnx-')}.onnx")
    if is_large:
        continue
    # The same for an operator set that every method is there for.
    try:
        newer = version_converter.convert_version(model, 13)
    except Exception as error:  # what the converter cannot do is reported
        print("NOT EXPORTED", path.stem, "at opset 13:", str(error).splitlines()[0])
        continue
    onnx.save(newer, folder / f"{path.stem.replace('light_', 'onnx13-')}.onnx")
for kind in ("pytorch-converted", "pytorch-operator", "simple"):
    for path in sorted((data / kind).glob("*/model.onnx")):
        (folder / f"onnx-{kind}-{path.parent.name.removeprefix('test_')}.onnx").write_bytes(path.read_bytes())
print(len(list(folder.glob("*.onnx"))), "models")
