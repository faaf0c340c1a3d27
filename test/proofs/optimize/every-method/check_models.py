"""Checks models as their paths come in, one a line; answers a line of JSON for each: null, or what is wrong."""

import json
import sys

import onnx

for line in sys.stdin:
    try:
        onnx.checker.check_model(line.rstrip("\n"), full_check=True)
        fault = None
    except Exception as error:  # whatever it is, it is the answer
        fault = f"{type(error).__name__}: {error}"[:500]
    print(json.dumps(fault), flush=True)
