#!/usr/bin/env bash
# Prunes trained classifiers with the engine and with torch-pruning at equal parameters, and prints the table of
# shared/onnx/README.md. Needs Python 3 with venv, PyPI and this project's node_modules; a few minutes.
# Usage: run.sh [folder that keeps the models; a temporary one by default]
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
source "$here/../workspace.sh" "${1:-}"
packages=(torch-pruning==1.6.1 scikit-learn==1.5.2 scipy==1.11.4 joblib==1.6.0 threadpoolctl==3.8.0 cloudpickle==3.1.2)
python="$folder/python/bin/python"
# What the index has of PyTorch is gigabytes of CUDA: the system's own is taken where there is one.
if /usr/bin/python3 -c 'import torch' 2>/dev/null; then
  [ -x "$python" ] || /usr/bin/python3 -m venv --system-site-packages "$folder/python"
  "$python" -m pip install --quiet --disable-pip-version-check --no-deps "${packages[@]}"
else
  [ -x "$python" ] || python3 -m venv "$folder/python"
  "$python" -m pip install --quiet --disable-pip-version-check torch onnx onnxscript "${packages[@]}"
fi
"$python" "$here/compare.py" "$folder" "$(command -v node)" "$root/shared/onnx/cli/launch.mjs"
