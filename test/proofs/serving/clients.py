"""Asks a served model by Triton's client, unmodified: python clients.py <host:port> <token> <model> <onnx file> [<feeds>]

Prints a JSON line for each check; ends with 1 if one fails. `feeds` names the model in made_models.py or in
../optimize/pypi/models.py whose inputs are drawn; without it the model has one input of float32.
"""

import json
import subprocess
import sys
from pathlib import Path

import made_models
import numpy as np
import onnxruntime
import tritonclient.http as triton
from tritonclient.utils import InferenceServerException, np_to_triton_dtype

address, token, model, path = sys.argv[1:5]
# A function, because the client adds headers of its own to the dict that it is given.
headers = lambda: {"Authorization": f"Bearer {token}"}
client = triton.InferenceServerClient(url=address, concurrency=4)
failed = []


def check(name, good, **found):
    print(json.dumps({"check": name, "good": bool(good), **found}), flush=True)
    if not good:
        failed.append(name)


check("server live", client.is_server_live())
check("server ready", client.is_server_ready())
server = client.get_server_metadata()
check("server metadata", "binary_tensor_data" in server["extensions"], server=server)
check("model ready", client.is_model_ready(model, headers=headers()))
check("another model is not ready", not client.is_model_ready("absent", headers=headers()))
metadata = client.get_model_metadata(model, headers=headers())
check("model metadata", metadata["name"] == model and metadata["inputs"], metadata=metadata)
config = client.get_model_config(model, headers=headers())
check("model config", config["backend"] == "onnxruntime")
index = client.get_model_repository_index(headers=headers())
check("repository index", any(row["name"] == model for row in index), rows=len(index))

# The options of the service: one thread, all optimizations.
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
options.inter_op_num_threads = 1
session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
names = [output.name for output in session.get_outputs()]
if len(sys.argv) > 5 and sys.argv[5] in made_models.NAMES:
    feeds = made_models.feeds(sys.argv[5], np.random.default_rng(7))
elif len(sys.argv) > 5:
    sys.path.insert(0, str(Path(__file__).parent.parent / "optimize/pypi"))
    import models

    [drawn] = [one for one in models.MODELS if one.name == sys.argv[5]]
    [feeds] = models.draw(drawn, 7, 1)
else:
    [wanted] = session.get_inputs()
    shape = [dim if isinstance(dim, int) else 2 for dim in wanted.shape]
    feeds = {wanted.name: np.random.default_rng(7).random(shape, dtype=np.float32)}
expected = session.run(None, feeds)


def same(value, wanted):
    """Equal bit by bit; texts come as bytes."""
    if wanted.dtype == np.object_:
        return [one.decode() if isinstance(one, bytes) else one for one in value.reshape(-1)] == wanted.reshape(-1).tolist()
    return np.array_equal(value, wanted, equal_nan=True)


def inputs(is_binary=True):
    made = []
    for name, values in feeds.items():
        given = triton.InferInput(name, list(values.shape), np_to_triton_dtype(values.dtype))
        made.append(given.set_data_from_numpy(values, binary_data=is_binary))
    return made


def ask(is_binary_in, is_binary_out, **more):
    outputs = [triton.InferRequestedOutput(name, binary_data=is_binary_out) for name in names]
    return client.infer(model, inputs(is_binary_in), outputs=outputs, headers=headers(), **more)


for sent in (True, False):
    for got in (True, False):
        answer = ask(sent, got, request_id="seven")
        equal = [same(answer.as_numpy(name), value) for name, value in zip(names, expected)]
        check(
            f"infer {'binary' if sent else 'JSON'} to {'binary' if got else 'JSON'}, bit-equal to ONNX Runtime",
            all(equal) and answer.get_response()["id"] == "seven",
        )

for algorithm in ("gzip", "deflate"):
    answer = ask(True, True, request_compression_algorithm=algorithm)
    check(f"infer with a {algorithm} body", same(answer.as_numpy(names[0]), expected[0]))

pending = [client.async_infer(model, inputs(), headers=headers()) for _ in range(8)]
check("eight at once", all(same(one.get_result().as_numpy(names[0]), expected[0]) for one in pending))

# Texts have no best.
if expected[0].dtype != np.object_:
    asked = triton.InferRequestedOutput(names[0], class_count=2)
    flat = expected[0].reshape(-1, expected[0].shape[-1])[0] if expected[0].ndim else expected[0]
    best = client.infer(model, inputs(), outputs=[asked], headers=headers()).as_numpy(names[0])
    [score, index] = best.reshape(-1)[0].decode().split(":")[:2]
    check("classification", flat[int(index)] == flat.max(), best=[one.decode() for one in best.reshape(-1)[:2]])

body = json.dumps(
    {
        "inputs": [
            {
                "name": name,
                "shape": list(values.shape),
                "datatype": np_to_triton_dtype(values.dtype),
                "data": values.reshape(-1).tolist(),
            }
            for name, values in feeds.items()
        ]
    }
)
curl = subprocess.run(
    ["curl", "-sS", f"http://{address}/v2/models/{model}/infer", "-H", f"Authorization: Bearer {token}", "-d", "@-"],
    input=body, capture_output=True, text=True,
)
found = {one["name"]: one for one in json.loads(curl.stdout or "{}").get("outputs", [])}
check(
    "curl with JSON",
    len(found) == len(names)
    and all(
        same(np.array(found[name]["data"], dtype=value.dtype).reshape(value.shape), value)
        and found[name]["shape"] == list(value.shape)
        for name, value in zip(names, expected)
    ),
    **({} if found else {"answer": curl.stdout[:300] + curl.stderr[:300]}),
)

try:
    client.infer(model, [triton.InferInput("nothing", [1], "FP32").set_data_from_numpy(np.ones(1, np.float32))], headers=headers())
    check("an unknown input is refused", False)
except InferenceServerException as error:
    check("an unknown input is refused", "inputs[0].name" in str(error), message=str(error))
try:
    client.infer(model, inputs())
    check("a stranger is refused", False)
except InferenceServerException as error:
    check("a stranger is refused", error.status() == "401", message=str(error))

sys.exit(1 if failed else 0)
