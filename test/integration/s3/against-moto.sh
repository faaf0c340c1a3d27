#!/usr/bin/env bash
# Proves the acceptance suite itself: runs it against moto, an S3 implementation by others, from PyPI.
# Needs Python 3 with venv and the network. Usage: test/integration/s3/against-moto.sh
set -euo pipefail
cd "$(dirname "$0")/../../.."

# What moto 5.2 does not do, and why those tests are left out:
#   signatures           it looks at no signature, expiry or signed header at all
#   checksums            it compares no body with a checksum, MD5 or payload hash, and keeps a checksum only
#                        where x-amz-sdk-checksum-algorithm comes with it
#   framing              it takes any length and any end of an aws-chunked body, and has no 100-continue
#   conditional-deletes  it ignores the ETag of an entry in DeleteObjects
#   multipart-checksums  it verifies no checksum of a part or of the whole
#   ended-uploads        it answers 500 to a part for an aborted upload
#   part-order           it sorts the parts itself
#   paged-parts          it ignores max-parts
#   invalid-arguments    it takes metadata, key counts, part numbers and tokens beyond S3's limits
#   cors                 its server answers every origin
# Always left out against others: memory, kill -9, restart and what only this server refuses (own-server).
without=signatures,checksums,framing,conditional-deletes,multipart-checksums
without=$without,ended-uploads,part-order,paged-parts,invalid-arguments,cors

folder="$(mktemp -d)"
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$folder"' EXIT

python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check 'moto[server]>=5.2,<6'
port="$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')"
"$folder/venv/bin/moto_server" --host 127.0.0.1 --port "$port" >"$folder/log" 2>&1 &
server=$!

export S3_ACCEPTANCE_ENDPOINT="http://127.0.0.1:$port"
for _ in $(seq 100); do
  if python3 -c "import urllib.request as u; u.urlopen('$S3_ACCEPTANCE_ENDPOINT/')" 2>/dev/null; then break; fi
  sleep 0.2
done
export S3_ACCEPTANCE_BUCKET=acceptance S3_ACCEPTANCE_WITHOUT="$without"
python3 -c "import urllib.request as u; u.urlopen(u.Request('$S3_ACCEPTANCE_ENDPOINT/acceptance', method='PUT'))"
node_modules/.bin/vitest run test/integration/s3
