"""Models of the service, and requests to served ones."""

from __future__ import annotations

import json
import struct
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from .error import Error

if TYPE_CHECKING:
    from . import models
    from .connection import Connection

# Names of numpy's types by the datatypes of the protocol.
_types = {
    **{"BOOL": "bool", "UINT8": "uint8", "UINT16": "uint16", "UINT32": "uint32", "UINT64": "uint64", "FP16": "float16"},
    **{"INT8": "int8", "INT16": "int16", "INT32": "int32", "INT64": "int64", "FP32": "float32", "FP64": "float64"},
}


class Models:
    """The models of a service, by name: ``for model in service.models``, ``service.models["digits"]``."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def __iter__(self) -> Iterator[Model]:
        return (Model(self._connection, row) for row in self._connection.rows("/optimization/models", query={"limit": 200}))

    def __getitem__(self, name: str) -> Model:
        """Return a model. :raises Error: if there is none of that name"""
        return Model(self._connection, self._connection.request("GET", f"/optimization/models/{quote(name, safe='')}"))


class Model:
    """A model as it was read. ``record`` has all that the service says of it."""

    def __init__(self, connection: Connection, record: models.Model) -> None:
        self._connection = connection
        self.record = record

    @property
    def name(self) -> str:
        return self.record["model_name"]

    def serve(self, **options: Any) -> Model:
        """Serve it, and return it. ``options`` are those of ``PUT …/serving``: ``version``, ``access``, ``memory`` (MiB), ``max_batch``."""
        self._connection.request("PUT", f"/optimization/models/{quote(self.name, safe='')}/serving", query=options)
        return self

    def infer(self, inputs: Mapping[str, Any] | None = None, *, version: str | None = None, **named: Any) -> dict[str, Any]:
        """Ask it: see :meth:`mps.Service.infer`."""
        return infer(self._connection, self.name, {**(inputs or {}), **named}, version)

    def __repr__(self) -> str:
        return f"<mps.Model {self.name} {self.record['status']}, {self.record['bytes']} bytes>"


def infer(connection: Connection, model: str, inputs: Mapping[str, Any], version: str | None) -> dict[str, Any]:
    """Ask a served model for its outputs, by the Open Inference Protocol."""
    path = f"/v2/models/{quote(model, safe='')}" + (f"/versions/{quote(version, safe='')}" if version else "")
    described: models.ServedModelMetadata = connection.request("GET", path)
    known = {one["name"]: one for one in described["inputs"]}
    unknown = [name for name in inputs if name not in known]
    if unknown or not inputs:
        fault = f"has no input {', '.join(unknown)}" if unknown else "needs inputs"
        shapes = ", ".join(f"{one['name']} {one['datatype']} {one['shape']}" for one in described["inputs"])
        raise Error(f"The model {model} {fault}. It has: {shapes}.")
    tensors, parts = [], []
    for name, value in inputs.items():
        tensor, part = _tensor(known[name], value)
        tensors.append(tensor)
        parts.append(part)
    binary = "numpy" in sys.modules
    try:
        head = json.dumps({"inputs": tensors, "parameters": {"binary_data_output": binary}}, allow_nan=False).encode()
    except (TypeError, ValueError) as fault:
        raise Error("Inputs in lists are finite numbers, truth values or texts; give others as arrays of numpy.") from fault
    headers = {"Inference-Header-Content-Length": str(len(head))}
    with connection.open("POST", f"{path}/infer", body=b"".join([head, *parts]), headers=headers, repeatable=True) as answer:
        body = answer.read()
        length = int(answer.headers.get("Inference-Header-Content-Length") or len(body))
    outputs, at = {}, length
    for output in json.loads(body[:length])["outputs"]:
        size = output.get("parameters", {}).get("binary_data_size", 0)
        outputs[output["name"]] = _value(output, body[at : at + size])
        at += size
    return outputs


def _tensor(known: models.ServedTensor, value: Any) -> tuple[dict[str, Any], bytes]:
    """Return the header and the bytes of an input. Arrays are sent as bytes, nested lists as JSON."""
    name, datatype = known["name"], known["datatype"]
    if not hasattr(value, "__array__"):
        shape, values = _flat(name, value)
        # One row needs no batch around it.
        shape = [1, *shape] if len(shape) == len(known["shape"]) - 1 else shape
        return {"name": name, "datatype": datatype, "shape": shape, "data": values}, b""
    import numpy

    if datatype == "BYTES":
        return _tensor(known, value.tolist())
    array = numpy.asarray(value)
    try:
        given, array = array, numpy.ascontiguousarray(array, dtype=numpy.dtype(_types[datatype]).newbyteorder("<"))
        if array.dtype.kind in "biu" and not (array == given).all():
            raise ValueError("some of its values are none")
    except (KeyError, TypeError, ValueError) as fault:
        raise Error(f"{name} is no array of {datatype}: {fault}.") from fault
    array = array[None] if array.ndim == len(known["shape"]) - 1 else array
    content = array.tobytes()
    return {"name": name, "datatype": datatype, "shape": list(array.shape), "parameters": {"binary_data_size": len(content)}}, content


def _flat(name: str, value: Any) -> tuple[list[int], list[Any]]:
    """Return the shape and the values of nested lists. :raises Error: if lists of one level differ in length"""
    shape, values = [], [value]
    while values and all(isinstance(one, (list, tuple)) for one in values):
        lengths = {len(one) for one in values}
        if len(lengths) > 1:
            raise Error(f"{name}: lists of one level must have the same length.")
        shape.append(lengths.pop())
        values = [one for each in values for one in each]
    if any(isinstance(one, (list, tuple, Mapping)) for one in values):
        raise Error(f"{name} must be an array, or nested lists of numbers.")
    return shape, values


def _value(output: dict[str, Any], content: bytes) -> Any:
    """Return an output as an array if numpy is in use, else as nested lists."""
    datatype, shape = output["datatype"], output["shape"]
    if "data" in output:
        return _nested(output["data"], shape)
    if datatype == "BYTES":
        return _nested(_texts(content), shape)
    import numpy

    return numpy.frombuffer(content, numpy.dtype(_types[datatype]).newbyteorder("<")).reshape(shape)


def _nested(values: Sequence[Any], shape: Sequence[int]) -> Any:
    rows: list[Any] = list(values)
    for length in reversed(shape[1:]):
        rows = [rows[at : at + length] for at in range(0, len(rows), length)] if length else []
    return rows


def _texts(content: bytes) -> list[str]:
    """Unpack texts, each behind its length in four bytes."""
    texts, at = [], 0
    while at < len(content):
        (length,) = struct.unpack_from("<I", content, at)
        texts.append(content[at + 4 : at + 4 + length].decode("utf-8", "replace"))
        at += 4 + length
    return texts
