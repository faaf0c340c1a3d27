#!/usr/bin/env bash
# Compresses a trained sentence encoder by each method and prints the table of shared/onnx/README.md: size, agreement of
# the nearest of 200 sentences with the float model, and relative error of the embeddings. Needs Python 3 with venv, PyPI
# and this project's node_modules; about ten minutes on two cores.
# Usage: run.sh [folder that keeps the models; a temporary one by default]
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
source "$here/../workspace.sh" "${1:-}"
[ -x "$folder/python/bin/python" ] || python3 -m venv "$folder/python"
python="$folder/python/bin/python"
"$python" -m pip install --quiet --disable-pip-version-check --no-deps --requirement "$here/requirements.txt"
"$python" "$here/make_encoder.py" "$folder"

results=()
source_model="$folder/encoder.onnx"
quantize() {
  local name="$1"
  shift
  results+=("$folder/$name.onnx")
  [ -e "$folder/$name.onnx" ] || node "$root/shared/onnx/cli/launch.mjs" quantize "$source_model" --measure none \
    --calibration "$folder/calibration.npz" --out "$folder/$name.onnx" "$@" >"$folder/$name.log" 2>&1
}

results+=("$folder/reference-dynamic.onnx")
[ -e "$folder/reference-dynamic.onnx" ] || "$python" "$here/reference.py" "$folder"
quantize dynamic-per-tensor --strategy dynamic --precision 8 --no-per-channel
quantize dynamic --strategy dynamic --precision 8
quantize static-inputs --strategy static_minmax --precision 8 --inputs-only
quantize static-inputs-smooth --strategy static_minmax --precision 8 --inputs-only --smooth-alpha 0.5
quantize weight-only --strategy weight_only --precision 4
quantize weight-only-mse --strategy weight_only_mse --precision 4
quantize gptq --strategy gptq --precision 4
quantize gptq-uint4 --strategy gptq --precision 4 --quant-type uint4
source_model="$folder/fused.onnx"
[ -e "$source_model" ] || node "$root/shared/onnx/cli/launch.mjs" prune "$folder/encoder.onnx" --measure none \
  --strategy optimize --compression 1 --out "$source_model" >"$folder/fused.log" 2>&1
quantize fused-dynamic --strategy dynamic --precision 8
quantize fused-static --strategy static_minmax --precision 8
quantize fused-static-inputs --strategy static_minmax --precision 8 --inputs-only
quantize fused-static-bounded --strategy static_minmax --precision 8 --max-error 0.015
"$python" "$here/agreement.py" "$folder/search.npz" "$folder/encoder.onnx" "${results[@]}"
