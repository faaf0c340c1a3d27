#!/usr/bin/env bash
# The whole of test/e2e/portable.test.ts: asked for, where /proc is hidden, and as an ordinary user. Needs root for the
# last two.
set -eu
case "${1:-}" in
-h | --help)
  echo "Usage: npm run proof -- portable"
  exit 0
  ;;
esac
cd "$(dirname "$0")/../.."
EVERY_SAMPLE=1 exec vitest run --reporter=verbose test/e2e/portable.test.ts
