"""Judges results against the float model on inputs that calibrated nothing. Usage: judge.py <json>; answers JSON.

`error` is the largest relative L2 error of an output over all samples, `agreement` the share of rows with the same
largest value (outputs with several), `time` the ratio of the medians of alternating runs on one thread, of which slow models have fewer.
"""

import json
import sys
import time

import numpy as np
import onnxruntime as ort

task = json.loads(sys.argv[1])


def opened(path):
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])


arrays = np.load(task["evaluation"])
feeds = [{name: np.asarray(arrays[name][index]) for name in arrays.files} for index in range(task["samples"])]
before = opened(task["model"])
expected = [before.run(None, feed) for feed in feeds]


def judged(path):
    try:
        after = opened(path)
        answers = [after.run(None, feed) for feed in feeds]
    except Exception as fault:
        return {"fault": f"does not run: {str(fault)[:160]}"}
    errors, agreements, broken = [0.0], [], 0
    for index in range(len(expected[0])):
        pairs = [(a[index], b[index]) for a, b in zip(expected, answers, strict=True)]
        if not np.issubdtype(pairs[0][0].dtype, np.floating) or any(a.shape != b.shape for a, b in pairs):
            # Such as the text that was read: the share of samples with the very same.
            agreements.append(np.mean([a.shape == b.shape and bool(np.array_equal(a, b)) for a, b in pairs]))
            continue
        whole, other = (np.concatenate([x.ravel() for x in side]).astype(float) for side in zip(*pairs, strict=True))
        broken += int((np.isfinite(whole) & ~np.isfinite(other)).sum())
        fine = np.isfinite(whole) & np.isfinite(other)
        size = np.linalg.norm(whole[fine])
        errors.append(float(np.linalg.norm((other - whole)[fine]) / size) if size > 0 else 0.0)
        if pairs[0][0].ndim > 0 and pairs[0][0].shape[-1] > 1:
            agreements.append(np.mean([np.mean(a.argmax(-1) == b.argmax(-1)) for a, b in pairs]))
    spent = {id(before): [], id(after): []}
    began = time.perf_counter()
    for turn in range(task["turns"]):
        if turn >= 6 and time.perf_counter() - began > task["seconds"]:
            break
        for session in (before, after) if turn % 2 else (after, before):
            start = time.perf_counter()
            session.run(None, feeds[turn % len(feeds)])
            spent[id(session)].append(time.perf_counter() - start)
    ratio = float(np.median(spent[id(after)]) / np.median(spent[id(before)]))
    return {"error": max(errors), "agreement": float(min(agreements, default=1)), "broken": broken, "time": ratio}


print(json.dumps({side: judged(path) for side, path in task["results"].items()}))
