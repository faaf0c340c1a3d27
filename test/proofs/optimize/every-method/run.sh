#!/usr/bin/env bash
# Exports models by every exporter that can be had, and puts each through every method: see every-method.ts.
# Usage: run.sh [folder that keeps the models and environments between runs, default .data/zoo]
set -euo pipefail
case "${1:-}" in
-h | --help)
  echo "Usage: npm run proof -- models [folder that keeps models and environments between runs (.data/zoo)]"
  echo "  puts the models of every exporter through every method; needs PyPI and about an hour"
  exit 0
  ;;
esac
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
export PATH="$here/../../../../node_modules/.bin:$PATH"
folder="${1:-$here/../../../../.data/zoo}"
mkdir -p "$folder"
# Models alone do not say that the exporters came to their end.
if [ ! -e "$folder/exported" ]; then
  "$here/../exporters/run.sh" "$folder"
  touch "$folder/exported"
fi
node "$here/../every-method.ts" --folder "$folder/models" --python "$folder/python/bin/python"
