"""Makes an ONNX file of a model of Hugging Face, or of a folder like one, that gives the same as PyTorch.

Usage: export.py SETTINGS.json OUTPUT_DIR. README.md beside this folder has the form of both.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import traceback
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from refusal import Refusal, reason_of, without_token
from repository import (
    SETTINGS_FILES,
    check_code,
    check_config,
    check_names,
    check_settings,
    check_tokenizer,
    module_weights,
    onnx_files,
    read_json,
    read_modules,
    root_of,
    small_files,
    task_of,
    weight_files,
)
from settings import read_settings

PACKAGES = ("torch", "transformers", "onnxscript", "onnx", "onnxruntime", "huggingface_hub", "tokenizers", "safetensors", "numpy")


def gather(settings: dict[str, Any], work: Path) -> dict[str, Any]:
    """Fetch the model, and refuse what cannot be exported before its weights are fetched."""
    os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"
    source, trusted = settings["source"], settings["trust_remote_code"]
    hub = None
    if "folder" in source:
        folder = source["folder"].resolve()
        paths = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
        sizes = {path.relative_to(folder).as_posix(): path.stat().st_size for path in paths}
        tag = None
    else:
        from fetch import Hub

        folder = work / "model"
        folder.mkdir()
        hub = Hub(source["hf"], source["revision"], folder)
        described = hub.describe()
        sizes, tag = described["sizes"], described["tag"]
        if described["commit"] != source["revision"]:
            raise Refusal("revision-not-found", f"The Hub has another commit than {source['revision']} by this name.")
    names = sorted(sizes)
    check_names(names)
    chosen = small_files(names, trusted)
    check_settings({name: sizes[name] for name in chosen})
    if hub is not None:
        hub.fetch(chosen, sizes)
    modules = read_modules(folder)
    root = root_of(modules)
    if root + "config.json" not in names:
        raise Refusal("no-config", f"The model has no {root}config.json, so nothing says what architecture it has.")
    config = read_json(folder / root / "config.json")
    check_config(config)
    check_code(config, is_known(config["model_type"]), trusted, source.get("hf", ""))
    task = task_of(config, modules, tag, settings["task"])
    if task == "image-classification" and settings["texts"] is not None:
        raise Refusal("bad-texts", "The model takes pictures, no texts.")
    if task != "image-classification":
        check_tokenizer(names, root)
    weights = [*weight_files(names, folder, root), *module_weights(names, modules)]
    own = onnx_files(names)
    from fetch import check_size

    check_size(weights, sizes)
    if sum(sizes[name] for name in own) > 2**31:
        own = []
    if hub is not None:
        hub.fetch([*weights, *own], sizes)
        print(f"Fetched {source['hf']} at {source['revision']}.")
    used = dict.fromkeys([*chosen, *weights, *own])
    return {"folder": str(folder), "files": list(used), "own": own[0] if own else None, "task": task}


def is_known(kind: str) -> bool:
    """Whether transformers names an architecture. Its list is read as text: to import it takes PyTorch, and seconds."""
    spec = find_spec("transformers")
    folder = Path(spec.origin or "").parent / "models/auto" if spec else Path()
    places = [folder / name for name in ("auto_mappings.py", "configuration_auto.py")]
    return any(json.dumps(kind) in place.read_text(encoding="utf-8") for place in places if place.is_file())


def export(settings: dict[str, Any], found: dict[str, Any], out: Path) -> dict[str, Any]:
    """Write the files of `out`; return what export.json says of them."""
    import transformers

    from equality import BATCHES, SAMPLES
    from picture_settings import read_picture_settings
    from pytorch_model import load_model, longest_text, wrap_model
    from tensors import PictureTensors, TextTensors, write_set
    from texts import choose_texts, licence_of, read_card
    from ways import find_way

    folder, task = Path(found["folder"]), found["task"]
    modules = read_modules(folder)
    root = folder / root_of(modules)
    card = read_card(folder)
    config = read_json(root / "config.json")
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    model = load_model(root, task, settings["trust_remote_code"])
    labels = [str(model.config.id2label[index]) for index in sorted(model.config.id2label)] if task.endswith("classification") else None
    about: dict[str, Any] = {"max_length": None, "pooling": None, "normalize": False, "labels": labels}
    if task == "image-classification":
        path = root / "preprocessor_config.json"
        drawer = PictureTensors(read_picture_settings(config, read_json(path) if path.is_file() else {}))
        wrapped = wrap_model(model, folder, task, modules, None)
        samples = drawer.draw(SAMPLES, 1)
        sets, labelled, origin = (drawer.draw(32, 2), drawer.draw(64, 3)), None, "made pictures"
        batches = _divide(samples, BATCHES)
    else:
        try:
            tokenizer = transformers.AutoTokenizer.from_pretrained(
                root, local_files_only=True, trust_remote_code=settings["trust_remote_code"]
            )
        except BaseException as error:
            # A panic of the tokenizers' own code is no Exception.
            raise Refusal("no-tokenizer", f"The tokenizer of the model cannot be read: {reason_of(error)}.") from None
        wrapped = wrap_model(model, folder, task, modules, tokenizer)
        sentence, prompts = (
            read_json(root / name) if (root / name).is_file() else {}
            for name in ("sentence_bert_config.json", "config_sentence_transformers.json")
        )
        named, prompt = prompts.get("prompts"), ""
        if isinstance(named, dict) and isinstance(named.get(str(prompts.get("default_prompt_name"))), str):
            prompt = named[prompts["default_prompt_name"]]
        about["max_length"] = longest_text(model, tokenizer, sentence)
        about["pooling"] = "+".join(wrapped.pooling.modes) or None
        about["normalize"] = wrapped.normalize
        pairs = task == "text-classification" and len(labels or []) == 1
        tensors = TextTensors(tokenizer, about["max_length"], prompt, sentence.get("do_lower_case") is True, pairs)
        texts = choose_texts(settings["texts"], settings["labels"], card)
        origin, labelled = texts.origin, _classes_of(texts.labels, labels, task)
        sets = []
        for seed, rows in ((2, texts.calibration), (3, texts.evaluation)):
            # What a user wrote is judged as it is; sentences of the list are joined to texts of all lengths.
            drawn = tensors.lengthen(rows, seed) if origin != "user" else (rows, [256] * len(rows))
            sets.append(tensors.encode(*drawn))
        batches, start = [], 0
        mixed, lengths = tensors.lengthen((texts.evaluation * SAMPLES)[:SAMPLES], 1)
        for size in BATCHES:
            batches.append(tensors.encode(mixed[start : start + size], lengths[start : start + size]))
            start += size
        _write_tokenizer(tokenizer, root, out)
    own = None if found["own"] is None else folder / found["own"]
    plain = not any(module["kind"] == "Dense" for module in modules) and "+" not in (about["pooling"] or "")
    way = find_way(wrapped, own, batches, out / "model.onnx", plain)
    inputs, equality = way.pop("inputs"), way["equality"]
    for one in way["tried"]:
        print(f"Not by {one['way']}: {one['reason']}")
    largest = f"{equality['largest_difference']:.1e}"
    print(f"Exported by {way['way']}: the same as PyTorch on {equality['samples']} samples (largest difference {largest}).")
    for name, arrays, classes in (("calibration", sets[0], None), ("evaluation", sets[1], labelled)):
        write_set(out / f"{name}.npz", {one: arrays[one] for one in inputs}, classes)
    _copy_settings(folder, root, out)
    source = settings["source"]
    return {
        "source": {
            "hub": "folder" if "folder" in source else "huggingface",
            "id": source.get("hf"),
            "revision": source.get("revision"),
            "licence": licence_of(card),
            "files": {name: _digest(folder / name) for name in found["files"]},
        },
        "task": task,
        **way,
        "packages": {name: found for name in PACKAGES if (found := _version(name))},
        "texts": origin,
        "remote_code": _is_remote(model),
        "preprocessing": about,
    }


def _classes_of(stated: list[str] | None, labels: list[str] | None, task: str) -> list[int] | None:
    """Return labels as indexes of classes. @throws Refusal `bad-labels`"""
    if stated is None:
        return None
    if task != "text-classification" or labels is None or len(labels) < 2:
        raise Refusal("bad-labels", "Labels are for models that choose a class of a text.")
    known = {**{str(index): index for index in range(len(labels))}, **{label: index for index, label in enumerate(labels)}}
    unknown = sorted(set(stated) - set(known))
    if unknown:
        raise Refusal("bad-labels", f"The model has no class {', '.join(unknown)[:200]}; it has {', '.join(labels)[:500]}.")
    return [known[label] for label in stated]


def _divide(arrays: dict[str, Any], sizes: tuple[int, ...]) -> list[dict[str, Any]]:
    starts = [sum(sizes[:index]) for index in range(len(sizes))]
    return [{name: array[start : start + size] for name, array in arrays.items()} for start, size in zip(starts, sizes)]


def _write_tokenizer(tokenizer: Any, root: Path, out: Path) -> None:
    """Convert a tokenizer without tokenizer.json. @throws Refusal `no-tokenizer` if it cannot be"""
    if (root / "tokenizer.json").is_file():
        return
    if not getattr(tokenizer, "is_fast", False):
        raise Refusal("no-tokenizer", f"The {type(tokenizer).__name__} of the model cannot be converted to a tokenizer.json.")
    tokenizer.save_pretrained(out)


def _copy_settings(folder: Path, root: Path, out: Path) -> None:
    """Copy the model's own files. Those of the model's folder lie beside the ONNX file, where serving looks for them."""
    for path in [*folder.glob("[0-9]*_*/config.json"), *(place / name for place in (folder, root) for name in SETTINGS_FILES)]:
        if path.is_file():
            target = out / (path.name if path.parent in (folder, root) else path.relative_to(folder))
            target.parent.mkdir(exist_ok=True)
            shutil.copyfile(path, target)


def _is_remote(model: Any) -> bool:
    return type(model).__module__.startswith("transformers_modules.")


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(2**20):
            digest.update(chunk)
    return digest.hexdigest()


def main(arguments: list[str]) -> int:
    """Run both halves. The second runs the model's code, if any, in a process that has never known the token."""
    settings_path, out = Path(arguments[0]).resolve(), Path(arguments[1]).resolve()
    out.mkdir(parents=True, exist_ok=True)
    work = out / ".work"
    try:
        settings = read_settings(settings_path)
        if len(arguments) == 2:
            shutil.rmtree(work, ignore_errors=True)
            work.mkdir()
            found = gather(settings, work)
            (work / "found.json").write_text(json.dumps(found), encoding="utf-8")
            kept = {name: value for name, value in os.environ.items() if name not in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")}
            offline = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(work / "home"), "HF_HUB_DISABLE_TELEMETRY": "1"}
            sys.stdout.flush()
            sys.stderr.flush()
            os.execve(sys.executable, [sys.executable, __file__, str(settings_path), str(out), "--fetched"], {**kept, **offline})
        described = export(settings, json.loads((work / "found.json").read_text(encoding="utf-8")), out)
        (out / "export.json").write_text(json.dumps(described, indent=2, ensure_ascii=False), encoding="utf-8")
        failure = None
    except Refusal as error:
        failure = error
    except BaseException as error:
        print(without_token(traceback.format_exc()), file=sys.stderr)
        failure = _unforeseen(error)
    shutil.rmtree(work, ignore_errors=True)
    if failure is None:
        return 0
    message = without_token(" ".join(failure.message.split()))
    (out / "error.json").write_text(json.dumps({"code": failure.code, "message": message}, ensure_ascii=False), encoding="utf-8")
    print(message, file=sys.stderr)
    return failure.fault


def _unforeseen(error: BaseException) -> Refusal:
    if isinstance(error, OSError) and error.errno == 28:
        return Refusal("disk-full", "The disk is full.", 1)
    if isinstance(error, MemoryError):
        return Refusal("memory", "The memory does not hold the model.", 1)
    return Refusal("failed", f"The export failed: {reason_of(error)}.", 1)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit("usage: export.py SETTINGS.json OUTPUT_DIR")
    sys.exit(main(sys.argv[1:]))
