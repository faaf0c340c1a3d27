#!/usr/bin/env bash
# Trains small models and exports them by every exporter that can be had here, and fills the onnx package's own test
# models with values: into <folder>/models. What cannot be installed or exported is told in <folder>/models/not-exported.txt
# and is no failure. Needs Python 3 with venv, and PyPI.
# Usage: run.sh <folder> [exporter]...    exporters: sklearn jax keras torch onnx (all by default)
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
folder="$1"
shift
exporters=("$@")
[ ${#exporters[@]} -gt 0 ] || exporters=(sklearn jax keras torch onnx)
models="$folder/models"
export ORT_DISABLE_TELEMETRY=1
mkdir -p "$models"
missing="$models/not-exported.txt"
: >"$missing"

declare -A packages=(
  [sklearn]="scikit-learn skl2onnx"
  [jax]="scikit-learn flax optax jax2onnx"
  [keras]="scikit-learn tensorflow-cpu tf2onnx"
  [torch]="scikit-learn torch onnxscript"
  [onnx]="onnxruntime"
)

# The checks of results need onnx, whichever exporters there are.
[ -x "$folder/python/bin/python" ] || python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet --disable-pip-version-check onnx numpy

# The Python that an exporter runs in; nothing, and a line in the report, where it cannot be installed.
python_of() {
  local exporter="$1" python="$folder/$1/bin/python"
  # What the index has of PyTorch is gigabytes of CUDA: the system's own is taken where there is one.
  if [ "$exporter" = torch ] && /usr/bin/python3 -c 'import torch, sklearn' 2>/dev/null; then
    echo /usr/bin/python3
    return
  fi
  [ -x "$python" ] || python3 -m venv "$folder/$exporter"
  # shellcheck disable=SC2086
  if "$python" -m pip install --quiet --disable-pip-version-check onnx numpy ${packages[$exporter]} 2>"$folder/pip.log"; then
    echo "$python"
  else
    echo "$exporter: cannot be installed ($(tail -n 1 "$folder/pip.log" | cut -c 1-200))" >>"$missing"
  fi
}

for exporter in "${exporters[@]}"; do
  python="$(python_of "$exporter")"
  [ -n "$python" ] || continue
  if ! "$python" "$here/${exporter}_models.py" "$models" >"$folder/$exporter.log" 2>&1; then
    echo "$exporter: $(tail -n 1 "$folder/$exporter.log" | cut -c 1-200)" >>"$missing"
  fi
  { grep '^NOT EXPORTED' "$folder/$exporter.log" || true; } | sed 's/^NOT EXPORTED *//' | cut -c 1-200 >>"$missing"
done
echo "$(find "$models" -name '*.onnx' | wc -l) models in $models"
if [ -s "$missing" ]; then cat "$missing"; fi
