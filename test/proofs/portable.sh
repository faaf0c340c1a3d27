#!/usr/bin/env bash
# The whole of test/e2e/portable.test.ts: asked for, where /proc is hidden, and as an ordinary user. Needs root for the
# last two. Then the proofs that kill programs in the lives of jobs, with this host.
set -eu
case "${1:-}" in
-h | --help)
  echo "Usage: npm run proof -- portable"
  exit 0
  ;;
esac
cd "$(dirname "$0")/../.."
EVERY_SAMPLE=1 vitest run --reporter=verbose test/e2e/portable.test.ts
MPS_HOST=portable exec node test/proofs/run.ts faults --only kill-job --only kill-kinds --short
