"""The ways to an ONNX file, in order: the repository's own, PyTorch's exporter, and its older one."""

from __future__ import annotations

import contextlib
import gc
import io
import warnings
from pathlib import Path
from typing import Any, Callable

import numpy as np
import onnx
import torch

from equality import NotEqual, compare_outputs
from pytorch_model import TOKEN_VECTORS, VECTORS, Wrapped
from refusal import Refusal, reason_of
from repository import LARGEST_ONNX

OPSET = 18


def find_way(
    wrapped: Wrapped, own: Path | None, batches: list[dict[str, np.ndarray]], out: Path, pooled_by_serving: bool
) -> dict[str, Any]:
    """Write `out` by the first way that equals PyTorch. @throws Refusal `not-equal` with what each way lacked"""
    try:
        expected = [wrapped.run(batch) for batch in batches]
    except Exception as error:
        raise Refusal("not-run", f"PyTorch itself cannot run the model with its own tokenizer and sizes: {reason_of(error)}.") from None
    example = _example(wrapped, batches[1])
    if not all(np.isfinite(value).all() for batch in expected for value in batch.values()):
        raise Refusal("not-finite", "PyTorch itself gives outputs that are no numbers (NaN or infinite).")
    ways: list[tuple[str, Callable[[], None]]] = [
        ("dynamo", lambda: _by_dynamo(wrapped, example, out)),
        ("torchscript", lambda: _by_script(wrapped, example, out)),
    ]
    if own is not None:
        ways.insert(0, ("repository-onnx", lambda: _take_own(own, out)))
    tried = []
    for way, write in ways:
        needed = {wrapped.output}
        if way == "repository-onnx" and wrapped.output == VECTORS and pooled_by_serving:
            needed.add(TOKEN_VECTORS)
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                write()
            if out.stat().st_size > LARGEST_ONNX:
                raise Refusal("too-large", f"The ONNX file would have {out.stat().st_size / 1e9:.1f} GB; one file holds at most 2 GB.")
            equality = compare_outputs(out, batches, expected, needed)
        except Refusal:
            raise
        except NotEqual as error:
            tried.append({"way": way, "reason": str(error)})
        except Exception as error:
            if isinstance(error, OSError) and error.errno == 28:
                raise
            tried.append({"way": way, "reason": reason_of(error)})
        else:
            opset = next(one.version for one in onnx.load(out).opset_import if one.domain in ("", "ai.onnx"))
            return {"way": way, "tried": tried, "opset": opset, **equality}
        gc.collect()
    said = "; ".join(f"{one['way']}: {one['reason']}" for one in tried)
    raise Refusal("not-equal", f"No export gives the same as PyTorch. {said}.")


def _take_own(own: Path, out: Path) -> None:
    onnx.save(onnx.load(own), out)


def _example(wrapped: Wrapped, batch: dict[str, np.ndarray]) -> dict[str, torch.Tensor]:
    """Return two pictures, or two texts of seven tokens: a dimension of size one would become fixed."""
    return {name: torch.from_numpy(batch[name][:2, :7] if batch[name].ndim == 2 else batch[name][:2]) for name in wrapped.names}


def _by_dynamo(wrapped: Wrapped, example: dict[str, torch.Tensor], out: Path) -> None:
    batch, length = torch.export.Dim("batch"), torch.export.Dim("length")
    shapes = {name: {0: batch, 1: length} if value.ndim == 2 else {0: batch} for name, value in example.items()}
    program = torch.onnx.export(
        wrapped,
        tuple(example.values()),
        dynamo=True,
        dynamic_shapes=shapes,
        input_names=list(example),
        output_names=[wrapped.output],
        opset_version=OPSET,
        verbose=False,
        external_data=False,
    )
    program.save(str(out), external_data=False)


def _by_script(wrapped: Wrapped, example: dict[str, torch.Tensor], out: Path) -> None:
    ranks = {name: {0: "batch", 1: "length"} if value.ndim == 2 else {0: "batch"} for name, value in example.items()}
    tokens = wrapped.output == "logits" and wrapped.task in ("token-classification", "fill-mask")
    torch.onnx.export(
        wrapped,
        tuple(example.values()),
        str(out),
        dynamo=False,
        input_names=list(example),
        output_names=[wrapped.output],
        dynamic_axes={**ranks, wrapped.output: {0: "batch", 1: "length"} if tokens else {0: "batch"}},
        opset_version=OPSET,
        external_data=False,
    )
