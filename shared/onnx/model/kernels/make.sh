#!/usr/bin/env bash
# Writes wasm.ts beside a file of WebAssembly's text format, kernels.wat by default. Run it after a change there; needs npm
# and its registry. Usage: make.sh [file]
set -euo pipefail
file="${1:-$(dirname "${BASH_SOURCE[0]}")/kernels.wat}"
binary="$(mktemp)"
trap 'rm -f "$binary"' EXIT
npx --yes --package wabt@1.0.39 wat2wasm "$file" --output "$binary"
{
  echo "/** $(basename "$file") as WebAssembly, in base64. \`make.sh\` writes this file. */"
  echo 'export const wasm ='
  echo "  '$(base64 --wrap 0 "$binary")';"
} >"$(dirname "$file")/wasm.ts"
