#!/usr/bin/env bash
# Compresses models of PyPI's packages by each method, by this engine, ONNX Runtime's tools and neural-compressor, and prints
# a table: compare.py says how. Then it serves a model beside MLServer. Needs Python 3 with venv, PyPI and this project's
# node_modules; some hours on two cores. What is done is kept in the folder, so that the same command goes on where it was
# stopped, or prints the table of what there is.
# Usage: run.sh [folder that keeps packages, models and results; .data/pypi by default] [flags of compare.py]
set -euo pipefail
case "${1:-}" in
-h | --help)
  echo "Usage: npm run proof -- pypi [folder that keeps packages and results (.data/pypi)] [--seconds N] [--only PART] [--methods NAME...] [--table]"
  echo "  --seconds  most seconds of one method on one model, by each side (120)"
  echo "  --only     models whose name has this part; without the serving beside MLServer"
  echo "  --methods  only these methods, such as dynamic"
  echo "  --table    prints the table of what was measured before"
  exit 0
  ;;
esac
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
first="${1:-}"
case "$first" in
"" | --*) folder="$here/../../../../.data/pypi" ;;
*) folder="$first" && shift ;;
esac
source "$here/../workspace.sh" "$folder"
[ -x "$folder/python/bin/python" ] || python3 -m venv "$folder/python"
python="$folder/python/bin/python"
"$python" -m pip install --quiet --disable-pip-version-check --requirement "$here/requirements.txt"
# Not every Python has wheels of these versions; the table then says that it did not run.
if [ ! -d "$folder/inc" ]; then
  python3 -m venv "$folder/inc"
  "$folder/inc/bin/python" -m pip install --quiet --disable-pip-version-check --requirement "$here/inc-requirements.txt" ||
    rm -r "$folder/inc"
fi
nice -n 15 "$python" "$here/compare.py" "$root" "$folder" "$@"
case " $* " in
*" --only "* | *" --table "*) ;;
*) node "$root/test/proofs/serving/run.ts" --figures ;;
esac
