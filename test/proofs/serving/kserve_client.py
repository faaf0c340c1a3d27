"""Asks a served model by KServe's client, unmodified: python kserve_client.py <host:port> <token> <model> <onnx file> <name>

`name` is that of the model in made_models.py. Prints a JSON line for each check; ends with 1 if one fails.
"""

import asyncio
import json
import sys

import made_models
import numpy as np
import onnxruntime
from kserve import InferenceRESTClient, InferInput, InferRequest, RESTConfig

address, token, model, path, name = sys.argv[1:6]
base = f"http://{address}"
feeds = made_models.feeds(name, np.random.default_rng(7))
session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
outputs = [output.name for output in session.get_outputs()]
expected = session.run(None, feeds)
failed = []
types = {"float32": "FP32", "object": "BYTES"}


def check(label, good):
    print(json.dumps({"check": label, "good": bool(good)}), flush=True)
    if not good:
        failed.append(label)


def request(is_binary):
    inputs = []
    for key, values in feeds.items():
        given = InferInput(key, list(values.shape), types[str(values.dtype)])
        given.set_data_from_numpy(values, binary_data=is_binary)
        inputs.append(given)
    parameters = {"binary_data_output": True} if is_binary else None
    return InferRequest(model, inputs, request_id="seven", parameters=parameters)


def same(value, wanted):
    if wanted.dtype == np.object_:
        return [one.decode() if isinstance(one, bytes) else one for one in value.reshape(-1)] == wanted.reshape(-1).tolist()
    return np.array_equal(value, wanted) and value.shape == wanted.shape


async def main():
    client = InferenceRESTClient(RESTConfig(protocol="v2"))
    # A function, because the client adds headers of its own to the dict that it is given.
    headers = lambda: {"Authorization": f"Bearer {token}"}
    check("KServe: server live", await client.is_server_live(base))
    check("KServe: server ready", await client.is_server_ready(base))
    check("KServe: model ready", await client.is_model_ready(base, model, headers=headers()))
    for is_binary in (False, True):
        answer = await client.infer(base, request(is_binary), model_name=model, headers=headers())
        found = {one.name: one.as_numpy() for one in answer.outputs}
        equal = [same(found[key], value) for key, value in zip(outputs, expected)]
        check(f"KServe: infer {'binary' if is_binary else 'JSON'}", all(equal) and answer.id == "seven")
    await client.close()


asyncio.run(main())
sys.exit(1 if failed else 0)
