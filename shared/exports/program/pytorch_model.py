"""A model as PyTorch runs it, wrapped so that its inputs and outputs are tensors with names."""

from __future__ import annotations

import inspect
import math
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from torch import nn

from refusal import Refusal, reason_of
from repository import LARGEST_ONNX, read_json

CLASSES = {
    "feature-extraction": "AutoModel",
    "text-classification": "AutoModelForSequenceClassification",
    "token-classification": "AutoModelForTokenClassification",
    "fill-mask": "AutoModelForMaskedLM",
    "image-classification": "AutoModelForImageClassification",
}
ACTIVATIONS = {"Tanh": nn.Tanh, "Identity": nn.Identity, "ReLU": nn.ReLU, "GELU": nn.GELU, "Sigmoid": nn.Sigmoid}
POOLINGS = ("cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken")
TOKEN_VECTORS, VECTORS = "token_embeddings", "sentence_embedding"


def load_model(folder: Path, task: str, trusted: bool) -> Any:
    """Load the weights, as float32. @throws Refusal if they are no weights, or not those of the task"""
    loader = getattr(transformers, CLASSES[task])
    options = {"trust_remote_code": trusted, "local_files_only": True}
    try:
        config = transformers.AutoConfig.from_pretrained(folder, **options)
        model, loading = loader.from_pretrained(
            folder,
            config=config,
            dtype=torch.float32,
            attn_implementation="eager",
            weights_only=True,
            output_loading_info=True,
            **options,
        )
    except Exception as error:
        raise _refused(error, task) from None
    # Without vectors of its own a pooler is drawn at random; vectors of texts need none.
    absent = sorted(key for key in loading["missing_keys"] if task != "feature-extraction" or not key.startswith("pooler."))
    if absent:
        message = f"The weights lack {', '.join(absent[:3])} ({len(absent)} in all): for {task} they would be random numbers."
        raise Refusal("no-weights", message)
    size = 4 * sum(parameter.numel() for parameter in model.parameters())
    if size > LARGEST_ONNX:
        raise Refusal("too-large", f"The model has {size / 1e9:.1f} GB as float32; one ONNX file holds at most 2 GB.")
    return model.eval()


def _refused(error: Exception, task: str) -> Refusal:
    seen: BaseException | None = error
    while seen is not None:
        if "weights_only" in str(seen) or type(seen).__name__ == "UnpicklingError":
            message = "pytorch_model.bin holds more than weights, and reading it would run a program. Ask its authors for safetensors."
            return Refusal("pickle", message)
        seen = seen.__cause__ or seen.__context__
    if isinstance(error, MemoryError):
        return Refusal("memory", "The memory does not hold the model.", 1)
    if "does not recognize this architecture" in str(error):
        return Refusal("unknown-architecture", "The architecture of the model is unknown to the installed transformers.")
    if "Unrecognized configuration class" in str(error):
        return Refusal("unsupported-task", f"The architecture of the model has no {task}.")
    return Refusal("bad-weights", f"The model cannot be loaded: {reason_of(error)}.")


def pooling_modes(folder: Path, modules: list[dict[str, Any]]) -> list[str]:
    """Return how vectors of tokens become one of a text; the mean if the model does not say. @throws Refusal"""
    path = next((module["path"] for module in modules if module["kind"] == "Pooling"), None)
    if path is None:
        return ["mean"]
    stated = read_json(folder / path / "config.json")
    if stated.get("include_prompt") is False:
        raise Refusal("unsupported-module", "The pooling leaves out the prompt, which is not supported.")
    named = stated.get("pooling_mode")
    modes = [named] if isinstance(named, str) else list(named) if isinstance(named, (list, tuple)) else []
    older = {"cls": "cls_token", "mean": "mean_tokens", "max": "max_tokens"}
    modes = modes or [mode for mode in POOLINGS if stated.get(f"pooling_mode_{older.get(mode, mode)}") is True]
    unknown = [str(mode) for mode in modes if mode not in POOLINGS]
    if unknown or not modes or len(modes) > len(POOLINGS):
        message = f"The pooling {', '.join(unknown)[:200] or f'of {len(modes)} modes'} is unknown; known are {', '.join(POOLINGS)}."
        raise Refusal("unsupported-module", message)
    return modes


class Pooling(nn.Module):
    """The poolings of sentence-transformers, for texts that are padded behind their end."""

    def __init__(self, modes: list[str]) -> None:
        super().__init__()
        self.modes = modes

    def forward(self, tokens: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        mask = attention_mask.unsqueeze(-1).to(tokens.dtype)
        sums = (tokens * mask).sum(1)
        counts = mask.sum(1).clamp(min=1e-9)
        found = []
        for mode in self.modes:
            if mode == "cls":
                found.append(tokens[:, 0])
            elif mode == "max":
                found.append((tokens * mask + (1 - mask) * -1e30).max(1).values)
            elif mode == "mean":
                found.append(sums / counts)
            elif mode == "mean_sqrt_len_tokens":
                found.append(sums / counts.sqrt())
            else:
                places = mask.cumsum(1) * mask
                last = (places == counts.unsqueeze(1)).to(tokens.dtype) * mask
                weights = places if mode == "weightedmean" else last
                found.append((tokens * weights).sum(1) / weights.sum(1).clamp(min=1e-9))
        return torch.cat(found, -1)


class Dense(nn.Module):
    def __init__(self, folder: Path) -> None:
        super().__init__()
        stated = read_json(folder / "config.json")
        name = str(stated.get("activation_function", "Tanh")).rsplit(".", 1)[-1]
        if name not in ACTIVATIONS:
            raise Refusal("unsupported-module", f"The activation {name} of {folder.name} is unknown; known are {', '.join(ACTIVATIONS)}.")
        sides = (stated.get("in_features"), stated.get("out_features"))
        if not all(isinstance(one, int) and 1 <= one <= 65_536 for one in sides) or 4 * sides[0] * sides[1] > LARGEST_ONNX:
            raise Refusal("bad-file", f"in_features and out_features of {folder.name} must be whole numbers, together of less than 2 GB.")
        try:
            self.linear = nn.Linear(*sides, bias=stated.get("bias", True))
            if (folder / "model.safetensors").is_file():
                from safetensors.torch import load_file

                weights = load_file(folder / "model.safetensors")
            else:
                weights = torch.load(folder / "pytorch_model.bin", map_location="cpu", weights_only=True)
            self.load_state_dict(weights)
        except Exception as error:
            raise _refused(error, "feature-extraction") from None
        self.activation = ACTIVATIONS[name]()

    def forward(self, vectors: torch.Tensor) -> torch.Tensor:
        return self.activation(self.linear(vectors))


class Wrapped(nn.Module):
    """One output from named inputs. The exporters of PyTorch take no `**kwargs`, and no output that is an object."""

    def __init__(self, model: Any, task: str, inputs: list[str], modes: list[str], behind: list[nn.Module], normalize: bool) -> None:
        super().__init__()
        self.model, self.task, self.names = model, task, inputs
        self.pooling, self.behind, self.normalize = Pooling(modes), nn.ModuleList(behind), normalize
        self.output = VECTORS if task == "feature-extraction" else "logits"

    def everything(self, **inputs: torch.Tensor) -> dict[str, torch.Tensor]:
        answer = self.model(**inputs, return_dict=True)
        if self.task != "feature-extraction":
            return {"logits": answer.logits}
        tokens = answer.last_hidden_state
        vectors = self.pooling(tokens, inputs["attention_mask"])
        for module in self.behind:
            vectors = module(vectors)
        if self.normalize:
            vectors = vectors / vectors.norm(dim=-1, keepdim=True).clamp(min=1e-12)
        return {VECTORS: vectors, TOKEN_VECTORS: tokens}

    def run(self, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        with torch.inference_mode():
            found = self.everything(**{name: torch.from_numpy(inputs[name]) for name in self.names})
        return {name: value.numpy() for name, value in found.items()}


class WrappedTexts(Wrapped):
    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        return self.everything(input_ids=input_ids, attention_mask=attention_mask)[self.output]


class WrappedPairs(Wrapped):
    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_type_ids: torch.Tensor) -> torch.Tensor:
        return self.everything(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids)[self.output]


class WrappedPictures(Wrapped):
    def forward(self, pixel_values: torch.Tensor) -> torch.Tensor:
        return self.everything(pixel_values=pixel_values)[self.output]


def wrap_model(model: Any, folder: Path, task: str, modules: list[dict[str, Any]], tokenizer: Any) -> Wrapped:
    """Wrap a model with the inputs that it takes and its tokenizer gives."""
    if task == "image-classification":
        return WrappedPictures(model, task, ["pixel_values"], [], [], False)
    taken = inspect.signature(model.forward).parameters
    if "input_ids" not in taken or "attention_mask" not in taken:
        raise Refusal("unsupported-task", "The model takes no texts (input_ids, attention_mask); give the task that it is for.")
    typed = (
        "token_type_ids" in taken
        and "token_type_ids" in tokenizer.model_input_names
        and (getattr(model.config, "type_vocab_size", None) or 0) > 1
    )
    names = ["input_ids", "attention_mask", *(["token_type_ids"] if typed else [])]
    modes = pooling_modes(folder, modules) if task == "feature-extraction" else []
    behind = [Dense(folder / module["path"]) for module in modules if module["kind"] == "Dense" and task == "feature-extraction"]
    normalize = any(module["kind"] == "Normalize" for module in modules)
    return (WrappedPairs if typed else WrappedTexts)(model, task, names, modes, behind, normalize)


def longest_text(model: Any, tokenizer: Any, sentence: dict[str, Any]) -> int:
    """Return the most tokens of a text, by the model's own files, as serving reads them."""
    config = model.config
    positions = getattr(config, "max_position_embeddings", None) or 0
    padding = getattr(model, "base_model", model)
    padding = getattr(getattr(getattr(padding, "embeddings", None), "position_embeddings", None), "padding_idx", None)
    # Positions of RoBERTa and its kin begin behind the id of the padding.
    limits = [positions - (padding + 1 if padding is not None else 0), tokenizer.model_max_length, sentence.get("max_seq_length")]
    stated = [one for one in limits if isinstance(one, (int, float)) and 0 < one < math.inf]
    return max(1, min(2_048, int(min(stated, default=512))))
