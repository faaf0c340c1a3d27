"""Derives onnx.proto of this folder from the onnx.proto of an ONNX release, and generates onnx_pb from it.

    python3 shared/onnx/model/proto/derive.py <onnx.proto of the release>

Needs npm's packages and `grpcio-tools` of PyPI. The wire format stays as published; only what Python calls a message
is called bytes in a few places, so that tensors stay where they lie in the file and are read in place.
"""

import pathlib
import re
import subprocess
import sys

here = pathlib.Path(__file__).resolve().parent
text = pathlib.Path(sys.argv[1]).read_text()
text = re.sub(r"(?m)^\s*//.*\n", "", text)
text = re.sub(r"[ \t]*//.*", "", text)
text = re.sub(r"\n{3,}", "\n\n", text).strip()

# Tensors of the graph, and graphs of training, which are never run here.
for field in (
    "repeated TensorProto initializer = 5",
    "optional TensorProto t = 5",
    "repeated TensorProto tensors = 10",
):
    assert text.count(field) == 1, field
    text = text.replace(field, field.replace("TensorProto", "bytes"))

head = "// Derived by derive.py from the onnx.proto of ONNX (Apache-2.0); tensors are bytes here.\n"
(here / "onnx.proto").write_text(head + text + "\n")
subprocess.run(
    [
        sys.executable, "-m", "grpc_tools.protoc", f"-I{here}", f"--es_out={here}",
        f"--plugin=protoc-gen-es={here.parents[3] / 'node_modules/.bin/protoc-gen-es'}",
        "--es_opt=target=js+dts,import_extension=js", "onnx.proto",
    ],
    check=True,
)

# The generator's comments only repeat what stands in onnx.proto.
for name in ("onnx_pb.js", "onnx_pb.d.ts"):
    generated = (here / name).read_text()
    generated = re.sub(r"(?ms)^ */\*\*\n.*?\*/\n", "", generated)
    generated = re.sub(r"\n\n+(?= )", "\n", generated)
    (here / name).write_text(re.sub(r"\n{3,}", "\n\n", generated).rstrip() + "\n")
