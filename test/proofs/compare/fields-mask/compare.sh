#!/usr/bin/env bash
# Runs the same masks over the same model and data through Flask-RESTX itself and through this service's endpoints, and
# prints where they agree. Needs Python 3 with venv, PyPI and this project's node_modules.
# Usage: compare.sh [random masks, default 5000] [seed, default 1]
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
export PATH="$here/../../../../node_modules/.bin:$PATH"
venv="$(mktemp -d)"
trap 'rm -rf "$venv"' EXIT
python3 -m venv "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check --requirement "$here/requirements.txt"
node "$here/compare.ts" "$venv/bin/python" "$@"
