#!/usr/bin/env bash
# Deploys the synthesized templates into moto, an imitation of AWS by others (from PyPI), by CloudFormation, as far as
# moto knows their resources, and says what it left out. Then takes the code of every deployed function back out of moto,
# and sends each a request on the local engines. In between it restores tables and bucket to a
# time, and terminates jobs by their tag. Needs Python 3 with venv and the network.
# Usage: test/infra/moto/run.sh
set -euo pipefail
cd "$(dirname "$0")/../../.."
export PATH="$PWD/node_modules/.bin:$PATH"

mkdir -p .build
# Within the project, so that this machine's own picture codec is found in place of that for the cloud.
folder="$(mktemp -d "$PWD/.build/moto-XXXXXX")"
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$folder"' EXIT

python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check 'moto[server]>=5.2,<6'

CDK_OUTDIR="$folder/cdk.out" CDK_CONTEXT_JSON="$(node -p 'JSON.stringify(require("./cdk.json").context)')" \
  node infra/aws/stacks/app.ts

port="$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')"
"$folder/venv/bin/moto_server" --host 127.0.0.1 --port "$port" >"$folder/log" 2>&1 &
server=$!
for _ in $(seq 100); do
  if python3 -c "import urllib.request as u; u.urlopen('http://127.0.0.1:$port/moto-api/')" 2>/dev/null; then break; fi
  sleep 0.2
done

export AWS_ENDPOINT_URL="http://127.0.0.1:$port" AWS_DEFAULT_REGION=us-east-1
AWS_ACCESS_KEY_ID=moto AWS_SECRET_ACCESS_KEY=moto \
  "$folder/venv/bin/python" test/infra/moto/deploy.py "$folder/cdk.out" "$folder/functions"
AWS_ACCESS_KEY_ID=moto AWS_SECRET_ACCESS_KEY=moto AWS_REGION=us-east-1 \
  "$folder/venv/bin/python" test/infra/moto/restore.py model-project-service
AWS_ACCESS_KEY_ID=moto AWS_SECRET_ACCESS_KEY=moto AWS_REGION=us-east-1 \
  "$folder/venv/bin/python" test/infra/moto/terminate.py model-project-service
unset AWS_ENDPOINT_URL AWS_DEFAULT_REGION

node test/support/run-bundles.ts "$folder/functions" >"$folder/answers"
"$folder/venv/bin/python" - "$folder/answers" <<'PYTHON'
import collections, json, sys

answers = [json.loads(line) for line in open(sys.argv[1]) if line.startswith('{"name"')]
failed = [answer for answer in answers if answer["status"] >= 500]
statuses = collections.Counter(answer["status"] for answer in answers)
print(f"{len(answers)} deployed functions answered:", ", ".join(f"{n} × {s}" for s, n in sorted(statuses.items())))
if failed:
    sys.exit(f"failed: {failed}")
PYTHON
