#!/usr/bin/env bash
# Quantizes the same models by ONNX Runtime's own quantizer and by this engine, and writes the table RESULTS.md. Needs
# Python 3 with venv, PyPI and this project's node_modules; about 15 minutes on a machine that does nothing else.
#
# The set-up: a pinned environment with ONNX Runtime of the version that the engine runs; one pre-processed file feeds
# both; one calibration file, in one order, batch 1; no graph optimizations; one core; QDQ, int8 weights and activations,
# per channel, the same operators, no reduced range; percentile 99.999 of 2048 bins, entropy 128 of 128; 4-bit blocks of
# 32, symmetric, accuracy level 4. Fresh processes, five repeats in alternating order, medians, peak memory from wait4.
# Both results are judged by one program on data that calibrated nothing. The stages are bundled, as in the service.
# Usage: run.sh [folder of trained models and their npz; exported anew by default] [options of compare.ts]
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
export PATH="$here/../../../../node_modules/.bin:$PATH"
# Neither side is to tell anybody of its sessions.
export ORT_DISABLE_TELEMETRY=1
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
trained="${1:-}"
[ $# -gt 0 ] && shift
if [ -z "$trained" ]; then
  "$here/../exporters/run.sh" "$work/exported" sklearn jax keras torch
  trained="$work/exported/models"
fi
python3 -m venv "$work/python"
"$work/python/bin/pip" install --quiet --disable-pip-version-check --requirement "$here/requirements.txt"
mkdir "$work/cases"
node "$here/compare.ts" --python "$work/python/bin/python" --folder "$work/cases" --trained "$trained" "$@"
