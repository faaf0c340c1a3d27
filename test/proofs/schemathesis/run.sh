#!/bin/sh
# Tries the whole published contract with Schemathesis: every operation of /openapi.json of a service that runs on this
# machine, with all checks and phases, also sequences of operations.
#
#   test/proofs/schemathesis/run.sh [--max-examples <per operation>] [other options of `schemathesis run`]
#
# Needs npm's packages, Python 3.10 or later and the way to PyPI. Prints the requests sent and the failures found; the
# exit code is not 0 where there is a failure, an error, or fewer than MIN_REQUESTS requests (20,000 unless set).
# Everything is made in a temporary folder, which is removed unless KEEP is set. What is left out, and why, stands in
# schemathesis.toml and hooks.py.
set -eu

version=4.32.5
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
root=$here/../../..
folder=$(mktemp -d "${TMPDIR:-/tmp}/mps-schemathesis-XXXXXX")
# Jobs run as users of their own where the service runs as root; they have to pass through.
chmod 711 "$folder"
service=

clean_up() {
  trap - EXIT INT TERM
  if [ -n "$service" ]; then
    kill "$service" 2>/dev/null || true
    wait "$service" 2>/dev/null || true
  fi
  if [ -n "${KEEP:-}" ]; then echo "Kept: $folder"; else rm -rf "$folder"; fi
}
trap clean_up EXIT
trap 'exit 130' INT TERM

python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "schemathesis==$version"

# One caller sends as fast as it can: limits that protect a service from that would be all that is tested.
PATH=$root/node_modules/.bin:$PATH
export ADMIN_PASSWORD="$(od -An -N18 -tx1 /dev/urandom | tr -d ' \n')"
LIMIT_REQUESTS_PER_SECOND=100000 LIMIT_ANONYMOUS_TIMES=100000 LIMIT_REQUESTS_IN_FLIGHT=1000 LIMIT_JOB_SECONDS=20 \
  node "$root/infra/local/start/launch.mjs" --port 0 --data "$folder/data" >"$folder/service.log" 2>&1 &
service=$!
until grep -qs '^Listening on ' "$folder/service.log"; do
  kill -0 "$service" 2>/dev/null || { cat "$folder/service.log" >&2; exit 1; }
  sleep 0.2
done
url=$(sed -n 's/^Listening on //p' "$folder/service.log")

cd "$here"
BASE_URL=$url PYTHONDONTWRITEBYTECODE=1 "$folder/venv/bin/python" run.py "$folder" "$@"
