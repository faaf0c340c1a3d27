"""What is in a model's repository, read from names and small files alone: nothing here runs a line of it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from refusal import Refusal
from settings import TASKS

# Files that say how a model is used. They are copied beside the ONNX file.
SETTINGS_FILES = (
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "modules.json",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
    "preprocessor_config.json",
    "processor_config.json",
)
# Vocabularies of tokenizers without a tokenizer.json.
VOCABULARIES = (
    "vocab.txt",
    "vocab.json",
    "merges.txt",
    "spiece.model",
    "spm.model",
    "sentencepiece.bpe.model",
    "tokenizer.model",
    "bpe.codes",
    "dict.txt",
)
# A module of sentence-transformers has a folder of its own.
MODULE_FOLDER = re.compile(r"\d+_\w+/[^/]+")
WEIGHTS = ("model.safetensors", "pytorch_model.bin")
LARGEST_ONNX = 2**31 - 2**20
MOST_FILES = 10_000
# The bounds of serving, which reads the same files. JSON takes some twenty times its bytes in memory.
LARGEST_VOCABULARY, LARGEST_SETTINGS, LARGEST_INDEX = 2**26, 2**22, 2**24


def small_files(names: list[str], trusted: bool) -> list[str]:
    """Choose what is read before the weights: the settings, the vocabulary, the card and, if its user trusts it, code."""
    chosen = []
    for name in names:
        base = name.rsplit("/", 1)[-1]
        own = "/" not in name or MODULE_FOLDER.fullmatch(name) is not None
        if own and (base in SETTINGS_FILES or base in VOCABULARIES or base.endswith(".index.json")):
            chosen.append(name)
        elif name == "README.md" or (trusted and base.endswith(".py") and ".." not in name):
            chosen.append(name)
    return chosen


def check_tokenizer(names: list[str], root: str) -> None:
    """Refuse a model of texts without a vocabulary, for which transformers makes up an empty one. @throws Refusal `no-tokenizer`"""
    if root + "tokenizer.json" in names:
        return
    vocabularies = [name for name in VOCABULARIES if root + name in names]
    if not vocabularies:
        message = "The model has no tokenizer: neither tokenizer.json nor a vocabulary such as vocab.txt."
        raise Refusal("no-tokenizer", f"{message} Save the tokenizer that it was trained with beside it (save_pretrained).")
    for name, other in (("vocab.json", "merges.txt"), ("merges.txt", "vocab.json")):
        if vocabularies == [name]:
            raise Refusal("no-tokenizer", f"The tokenizer of the model has {name} but no {other}.")


def weight_files(names: list[str], folder: Path, root: str) -> list[str]:
    """Choose the weights, of those that cannot run code first. @throws Refusal if there are none for PyTorch"""
    for base in WEIGHTS:
        if root + base in names:
            return [root + base]
        index = folder / (root + base + ".index.json")
        if index.is_file():
            shards = set(read_json(index).get("weight_map", {}).values())
            chosen = sorted(root + shard for shard in shards if isinstance(shard, str))
            if chosen and set(chosen) <= set(names):
                return [index.relative_to(folder).as_posix(), *chosen]
    if any(name.endswith(".gguf") for name in names):
        raise Refusal("gguf", "The model has only GGUF files, which are for llama.cpp. Take the model that it was made of.")
    if any(name.endswith((".h5", ".msgpack")) for name in names):
        raise Refusal("no-weights", "The model has weights of TensorFlow or Flax only; the export needs those of PyTorch.")
    if any(name.endswith(".onnx") for name in names):
        message = "The model has an ONNX file but no weights of PyTorch, to which the file is to be compared."
        raise Refusal("no-weights", f"{message} Register the ONNX file as a model instead.")
    raise Refusal("no-weights", f"The model has no weights: neither {' nor '.join(WEIGHTS)}.")


def module_weights(names: list[str], modules: list[dict[str, Any]]) -> list[str]:
    """Choose the weights of modules of sentence-transformers behind the pooling."""
    chosen = []
    for module in modules:
        if module["kind"] == "Dense":
            found = [f"{module['path']}/{base}" for base in WEIGHTS if f"{module['path']}/{base}" in names]
            if not found:
                raise Refusal("no-weights", f"The model has no weights of its module {module['path']}.")
            chosen.append(found[0])
    return chosen


def onnx_files(names: list[str]) -> list[str]:
    """Return the ONNX file that the repository has, and those with its weights; nothing if it has none."""
    for name in ("onnx/model.onnx", "model.onnx"):
        if name in names:
            return [name, *(other for other in names if re.fullmatch(re.escape(name) + r"[._]data", other))]
    return []


def largest_of(name: str) -> int:
    """Return the bytes that a file of the settings may have."""
    base = name.rsplit("/", 1)[-1]
    if base == "tokenizer.json" or base in VOCABULARIES:
        return LARGEST_VOCABULARY
    return LARGEST_INDEX if base.endswith(".index.json") or base == "README.md" else LARGEST_SETTINGS


def check_settings(sizes: dict[str, int]) -> None:
    """Refuse settings that are too large to be read. @throws Refusal `too-large` that names the file"""
    for name, size in sizes.items():
        if size > largest_of(name):
            message = f"{name[:200]} has {size / 1e6:,.1f} MB; at most {largest_of(name) / 1e6:.1f} MB are read of such a file."
            raise Refusal("too-large", message)


def check_names(names: list[str]) -> None:
    """Refuse what has no model by the names of its files. @throws Refusal"""
    if len(names) > MOST_FILES:
        raise Refusal("too-large", f"The repository has {len(names):,} files; at most {MOST_FILES:,} are looked at.")
    if "adapter_config.json" in names and "config.json" not in names:
        message = "This is an adapter (LoRA), not a model. Merge it into its model (peft: merge_and_unload) and export the result."
        raise Refusal("adapter", message)
    if any(name.endswith(".gguf") for name in names) and not any(name.rsplit("/", 1)[-1] in WEIGHTS for name in names):
        if not any(name.endswith(".safetensors") for name in names):
            weight_files([name for name in names if name.endswith(".gguf")], Path("/nonexistent"), "")
    if not any(re.fullmatch(r"(0_\w+/)?config\.json", name) for name in names):
        nested = sorted(name for name in names if name.endswith("/config.json") and not MODULE_FOLDER.fullmatch(name))
        if nested:
            folders = ", ".join(name.removesuffix("config.json") for name in nested[:3])
            message = f"The model lies in a folder of the repository ({folders[:200]}), and one at its top is exported."
            raise Refusal("no-config", f"{message} Download the folder and export that.")
        raise Refusal("no-config", "The model has no config.json, so nothing says what architecture it has.")


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in a file. @throws Refusal `bad-file` if there is none"""
    try:
        # A Hub may state another size than its file has.
        check_settings({path.name: path.stat().st_size})
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise Refusal("bad-file", f"{path.name} of the model is no JSON object.")
    return value


def read_modules(folder: Path) -> list[dict[str, Any]]:
    """Return kind and path of the modules of sentence-transformers; nothing if the model is none of its own."""
    path = folder / "modules.json"
    if not path.is_file():
        return []
    try:
        check_settings({path.name: path.stat().st_size})
        stated = json.loads(path.read_text(encoding="utf-8"))
        modules = [{"kind": one["type"].rsplit(".", 1)[-1], "path": one.get("path", "")} for one in stated]
        if any(not re.fullmatch(r"(\w[\w.-]*)?", one["path"]) for one in modules):
            raise ValueError("path")
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise Refusal("bad-file", "modules.json of the model is no list of modules.") from None
    known = ("Transformer", "Pooling", "Normalize", "Dense", "Dropout")
    unknown = [one["kind"] for one in modules if one["kind"] not in known]
    if unknown or not modules or modules[0]["kind"] != "Transformer":
        message = f"modules.json has {', '.join(unknown) or 'no Transformer first'}; known are {', '.join(known)}."
        raise Refusal("unsupported-module", message)
    return modules


def root_of(modules: list[dict[str, Any]]) -> str:
    """Return the folder of the model itself in its repository, with a slash: older sentence encoders have one."""
    path = modules[0]["path"] if modules else ""
    return f"{path}/" if path else ""


def check_config(config: dict[str, Any]) -> None:
    """Refuse a model by its config.json. @throws Refusal"""
    quantized = config.get("quantization_config") or config.get("compression_config")
    if quantized is not None:
        method = quantized.get("quant_method") if isinstance(quantized, dict) else None
        message = f"The weights are quantized already ({method or 'by an unknown method'}). Take the model that they were made of."
        raise Refusal("quantized", message)
    if config.get("is_encoder_decoder") is True:
        raise Refusal("unsupported-task", f"The model writes texts (encoder and decoder); {supported()}.")
    if not isinstance(config.get("model_type"), str):
        raise Refusal("unknown-architecture", "config.json has no model_type, so nothing says what architecture the model has.")


def supported() -> str:
    return f"an export is one of {', '.join(TASKS)}"


def task_of(config: dict[str, Any], modules: list[dict[str, Any]], tag: str | None, asked: str | None) -> str:
    """Return what the model is for: as asked, else by its files. @throws Refusal `unsupported-task`"""
    if asked is not None:
        return asked
    if any(module["kind"] == "Pooling" for module in modules):
        return "feature-extraction"
    stated = config.get("architectures")
    architecture = next((one for one in stated if isinstance(one, str)), "") if isinstance(stated, list) else ""
    endings = {
        "ForSequenceClassification": "text-classification",
        "ForTokenClassification": "token-classification",
        "ForMaskedLM": "fill-mask",
        "ForImageClassification": "image-classification",
        "ForImageClassificationWithTeacher": "image-classification",
    }
    for ending, task in endings.items():
        if architecture.endswith(ending):
            return task
    plain = architecture.endswith(("Model", "ForPreTraining")) and not architecture.endswith(("HeadModel", "HeadsModel"))
    if tag in ("sentence-similarity", *TASKS) and (plain or architecture == ""):
        return "feature-extraction" if tag == "sentence-similarity" else str(tag)
    if plain:
        return "feature-extraction"
    raise Refusal("unsupported-task", f"The model is a {architecture or 'model without a stated architecture'}; {supported()}.")


def check_code(config: dict[str, Any], known: bool, trusted: bool, own: str) -> None:
    """Refuse code that its user did not ask for. @throws Refusal `unknown-architecture`, `remote-code`"""
    named = config.get("auto_map")
    if known and not trusted:
        return
    kind = str(config.get("model_type"))[:80]
    if not isinstance(named, dict) or not named:
        if known:
            return
        message = f'The architecture "{kind}" is unknown to the installed transformers, and the model brings no code of its own.'
        raise Refusal("unknown-architecture", message)
    if not trusted:
        message = f'The architecture "{kind}" is code of the model itself. It runs only if you ask for it (trust_remote_code).'
        raise Refusal("remote-code", message)
    places = [place for value in named.values() for place in (value if isinstance(value, list) else [value]) if isinstance(place, str)]
    elsewhere = sorted({place.split("--", 1)[0] for place in places if "--" in place} - {own})
    if elsewhere:
        message = f"The code of the model lies in {', '.join(elsewhere)[:200]}, whose revision nothing states. It is not fetched."
        raise Refusal("remote-code", message)
