"""How far ONNX files answer as PyTorch does, on texts and pictures that no compression has seen.

Usage: judge_files.py <folder>... Each has ONNX files and about.json: {"repository", "task"}. Writes judged.json beside them: of
each file its bytes, its loss (1 - agreement) and the relative error of its outputs.
"""

import json
import random
import sys
from pathlib import Path

import numpy as np
import onnxruntime
import torch
import transformers

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "shared/exports/program"))

from equality import ALIASES  # noqa: E402
from make_models import PROSE, corpus  # noqa: E402
from picture_settings import read_picture_settings  # noqa: E402
from pytorch_model import TOKEN_VECTORS, VECTORS, load_model, longest_text, wrap_model  # noqa: E402
from repository import read_json, read_modules  # noqa: E402
from tensors import PictureTensors, TextTensors  # noqa: E402

TEXTS, PICTURES, BATCH = 500, 500, 20
# A neighbour that is as near within this counts, as in receipts.
AS_NEAR = 0.001


def draw(folder, task):
    """Return the model as PyTorch runs it, and batches of its inputs."""
    model = load_model(folder, task, False)
    modules = read_modules(folder)
    if task == "image-classification":
        settings = read_picture_settings(read_json(folder / "config.json"), read_json(folder / "preprocessor_config.json"))
        drawn = PictureTensors(settings).draw(PICTURES, 9)
        rows = [{"pixel_values": drawn["pixel_values"][at : at + BATCH]} for at in range(0, PICTURES, BATCH)]
        return wrap_model(model, folder, task, modules, None), rows
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
    wrapped = wrap_model(model, folder, task, modules, tokenizer)
    pairs = task == "text-classification" and model.config.num_labels == 1
    tensors = TextTensors(tokenizer, longest_text(model, tokenizer, {"max_seq_length": 64}), "", False, pairs)
    texts = random.Random(9).sample(corpus()[:PROSE], TEXTS)
    return wrapped, [tensors.encode(texts[at : at + BATCH], [256] * BATCH) for at in range(0, TEXTS, BATCH)]


def answers(path, wrapped, batches):
    """Return the output of the file for each batch, pooled as sentence-transformers does where it has vectors of tokens only."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    given = [one.name for one in session.get_inputs()]
    outputs = {ALIASES.get(one.name, one.name): one.name for one in session.get_outputs()}
    alias = wrapped.output if wrapped.output in outputs else TOKEN_VECTORS
    found = []
    for batch in batches:
        value = session.run([outputs[alias]], {name: batch[name] for name in given})[0]
        if alias != wrapped.output:
            vectors = wrapped.pooling(torch.from_numpy(value), torch.from_numpy(batch["attention_mask"]))
            for module in wrapped.behind:
                vectors = module(vectors)
            if wrapped.normalize:
                vectors = vectors / vectors.norm(dim=-1, keepdim=True)
            value = vectors.detach().numpy()
        found.append(value)
    return found


def agreement(wanted, found, task):
    """Return the share of equal classes or nearest neighbours, or Spearman's correlation of scores."""
    if task == "feature-extraction":
        near, chosen = nearness(wanted), nearness(found).argmax(1)
        return float(np.mean(near[np.arange(len(near)), chosen] >= near.max(1) - AS_NEAR))
    if wanted.shape[-1] == 1:
        ranks = [value[:, 0].argsort().argsort() for value in (wanted, found)]
        return float(np.corrcoef(*ranks)[0, 1])
    return float(np.mean(wanted.argmax(-1) == found.argmax(-1)))


def nearness(vectors):
    unit = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    near = unit @ unit.T
    np.fill_diagonal(near, -2)
    return near


def judge(folder):
    about = json.loads((folder / "about.json").read_text())
    wrapped, batches = draw(Path(about["repository"]), about["task"])
    wanted = joined([wrapped.run(batch)[wrapped.output] for batch in batches], batches)
    judged = {}
    for path in sorted(folder.glob("*.onnx")):
        found = joined(answers(path, wrapped, batches), batches)
        judged[path.stem] = {
            "bytes": path.stat().st_size,
            "loss": 1 - agreement(wanted, found, about["task"]),
            "error": float(np.linalg.norm(found - wanted) / np.linalg.norm(wanted)),
        }
    return judged


def joined(values, batches):
    """Return a row for each text, or for each token that is no padding."""
    if values[0].ndim > 2:
        values = [value[batch["attention_mask"].astype(bool)] for value, batch in zip(values, batches)]
    return np.concatenate(values).astype(np.float64)


if __name__ == "__main__":
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    torch.set_num_threads(1)
    for folder in map(Path, sys.argv[1:]):
        (folder / "judged.json").write_text(json.dumps(judge(folder)))
