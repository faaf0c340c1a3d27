"""Judges two quantized models beside the one they were made of. Usage: judge.py <json>; prints JSON."""

import json
import sys
import time

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

task = json.loads(sys.argv[1])


def constants(path):
    """Constants by the names that the reference gives them."""
    model = onnx.load(path)
    return {tensor.name.replace("_blocks_Q4", "_Q4").replace("_blocks_scales", "_scales"): numpy_helper.to_array(tensor)
            for tensor in model.graph.initializer}


def equality(names):
    """How many constants of the reference ours has with the very same values, of how many, and which differ."""
    differing = [name for name in names if name not in ours or ours[name].tobytes() != reference[name].tobytes()
                 or ours[name].dtype != reference[name].dtype]
    return {"equal": len(names) - len(differing), "of": len(names), "differing": differing[:5]}


source, reference, ours = (constants(task[side]) for side in ("model", "reference", "ours"))
suffixes = ("_quantized_scale", "_quantized_zero_point", "_quantized", "_scales", "_scale", "_zero_point", "_Q4")
weights = {name for name in source if source[name].dtype == np.float32}


def maker(name):
    """The value whose scale, zero point or quantized form a constant of the reference is."""
    return next((name.removesuffix(suffix) for suffix in suffixes if name.endswith(suffix)), None)


made = {name: maker(name) for name in sorted(reference) if name not in source and maker(name) is not None}
# A bias is quantized at the scale of its activation times that of its weight: it is as equal as those are.
biases = {of for name, of in made.items() if reference[name].dtype == np.int32}
of_weights = [name for name, of in made.items() if of in weights and of not in biases]
# Constants that nodes make are observed by the reference as if they were activations.
by_node = {name for node in onnx.load(task["model"]).graph.node if node.op_type == "Constant" for name in node.output}
activations = [name for name, of in made.items() if of not in weights | by_node and name.endswith("_scale")]
shared = [name for name in activations if name in ours]
differences = [float(abs(ours[name] / reference[name] - 1).max()) for name in shared]
zero_points = [name.removesuffix("_scale") + "_zero_point" for name in shared]


def session(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


sessions = {side: session(task[side]) for side in ("model", "reference", "ours")}
arrays = np.load(task["evaluation"])
name = sessions["model"].get_inputs()[0].name
labels = arrays["labels"] if "labels" in arrays.files else None


def logits(values):
    """The output that classes are read from: the widest one."""
    return max(values, key=lambda value: value.shape[-1] if value.dtype == np.float32 and value.ndim > 1 else 0)


squares, met = {"model": 0.0, "reference": 0.0, "ours": 0.0}, dict.fromkeys(sessions, 0)
for index, row in enumerate(arrays[name]):
    results = {side: logits(one.run(None, {name: row[np.newaxis]})) for side, one in sessions.items()}
    squares["model"] += float((results["model"].astype(np.float64) ** 2).sum())
    for side in ("reference", "ours"):
        squares[side] += float(((results[side].astype(np.float64) - results["model"]) ** 2).sum())
    if labels is not None:
        for side, result in results.items():
            met[side] += int(result.argmax() == labels[index])

feeds = {name: arrays[name][:1]}


def block(side, runs):
    times = []
    for _ in range(runs):
        started = time.perf_counter()
        sessions[side].run(None, feeds)
        times.append(time.perf_counter() - started)
    return float(np.median(times))


for side in ("reference", "ours"):
    once = block(side, 5)
runs = int(min(200, max(3, 0.03 / once)))
blocks = []
for turn in range(30):
    order = ("reference", "ours") if turn % 2 == 0 else ("ours", "reference")
    blocks.append({side: block(side, runs) for side in order})
ratios = np.array([times["ours"] / times["reference"] for times in blocks])
draws = np.median(np.random.default_rng(0).choice(ratios, (10_000, len(ratios))), axis=1)
print(json.dumps({
    "weights": equality(of_weights),
    "biases": equality([name for name, of in made.items() if of in biases]),
    "activations": {
        "shared": len(shared), "of": len(activations), "missing": [one for one in activations if one not in ours][:5],
        "largest": max(differences, default=None),
        "zero_points_equal": sum(ours[one].tobytes() == reference[one].tobytes() for one in zero_points),
    },
    "error": {side: (squares[side] / squares["model"]) ** 0.5 for side in ("reference", "ours")},
    "accuracy": None if labels is None else {side: count / len(labels) for side, count in met.items()},
    "latency": {"ratio": float(np.median(ratios)), "interval": np.percentile(draws, [2.5, 97.5]).tolist()},
    "milliseconds": {side: 1000 * float(np.median([times[side] for times in blocks])) for side in ("reference", "ours")},
}))
