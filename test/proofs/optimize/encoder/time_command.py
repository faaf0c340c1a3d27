"""Compares the time of the whole command with that of ONNX Runtime's own quantizer on the same model.

Usage: time_command.py <folder of run.sh> [repetitions]. Processes alternate, so that both meet the same load; medians are
printed, of the time that a person waits and of the processors'. The first says little on a machine that does other work.
Memory is the peak of the largest process.
"""

import os
import statistics
import sys
import time
from pathlib import Path

root = Path(__file__).resolve().parents[3]
folder = Path(sys.argv[1])
repetitions = int(sys.argv[2]) if len(sys.argv) > 2 else 5
model, out = folder / "encoder.onnx", folder / "timed.onnx"

QUANTIZER = """
import sys
from onnxruntime.quantization import QuantType, quantize_dynamic
quantize_dynamic(sys.argv[1], sys.argv[2], weight_type=QuantType.QInt8)
"""


def command(measure: str) -> list[str]:
    program = [str(root / "node_modules/.bin/node"), str(root / "shared/onnx/cli/launch.mjs")]
    method = ["quantize", str(model), "--strategy", "dynamic", "--precision", "8", "--measure", measure]
    return [*program, *method, "--force", "--out", str(out)]


def run(arguments: list[str]) -> tuple[float, float, float]:
    """Seconds, processor seconds, and MB."""
    begun = time.perf_counter()
    process = os.posix_spawn(
        arguments[0],
        arguments,
        os.environ,
        file_actions=[(os.POSIX_SPAWN_OPEN, at, os.devnull, os.O_WRONLY, 0) for at in (1, 2)],
    )
    _, status, usage = os.wait4(process, 0)
    if status != 0:
        raise SystemExit(f"{arguments[0]} failed")
    return time.perf_counter() - begun, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6


def medians(measured: list[tuple[float, float, float]]) -> tuple[float, float]:
    return statistics.median(one[0] for one in measured), statistics.median(one[1] for one in measured)


sides = {
    "quantize_dynamic": [sys.executable, "-c", QUANTIZER, str(model), str(out)],
    "measure=none": command("none"),
    "measure=quick": command("quick"),
}
runs = {name: [] for name in sides}
run(sides["measure=none"])  # builds the command
for _ in range(repetitions):
    for name, arguments in sides.items():
        runs[name].append(run(arguments))

waited, worked = medians(runs["quantize_dynamic"])
for name, measured in runs.items():
    seconds, processor = medians(measured)
    peak = max(one[2] for one in measured)
    print(
        f"{name:20} {seconds:6.2f} s  {seconds / waited:5.2f} x  "
        f"processors {processor:6.2f} s  {processor / worked:5.2f} x  {peak:6.0f} MB"
    )
