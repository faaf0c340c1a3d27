#!/usr/bin/env bash
# Writes wasm.ts from kernels.wat. Run it after a change there; needs npm and its registry.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
binary="$(mktemp)"
trap 'rm -f "$binary"' EXIT
npx --yes --package wabt@1.0.39 wat2wasm kernels.wat --output "$binary"
{
  echo '/** kernels.wat as WebAssembly, in base64. `make.sh` writes this file. */'
  echo 'export const wasm ='
  echo "  '$(base64 --wrap 0 "$binary")';"
} >wasm.ts
