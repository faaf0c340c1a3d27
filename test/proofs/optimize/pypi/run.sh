#!/usr/bin/env bash
# Compresses models of PyPI's packages by each method, by this engine and by the field's own tools, and prints a table:
# compare.py says how. Needs Python 3 with venv, PyPI and this project's node_modules; about an hour on two cores. What is
# done is kept in the folder, so that the same command goes on where it was stopped, or prints the table of what there is.
# Usage: run.sh [folder that keeps packages, models and results; .data/pypi by default] [--seconds N] [--only PART] [--table]
set -euo pipefail
case "${1:-}" in
-h | --help)
  echo "Usage: npm run proof -- pypi [folder that keeps packages and results (.data/pypi)] [--seconds N] [--only PART] [--table]"
  echo "  --seconds  most seconds of one method on one model, by each side (120)"
  echo "  --only     models whose name has this part"
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
nice -n 15 "$python" "$here/compare.py" "$root" "$folder" "$@"
