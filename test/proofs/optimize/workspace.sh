# For scripts beside it, which source it with their own first argument: the project's programs on the PATH, and `folder`,
# which keeps models and environments between runs, or is temporary where none is given.
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)"
# Nobody is told of the sessions of ONNX Runtime.
export PATH="$root/node_modules/.bin:$PATH" ORT_DISABLE_TELEMETRY=1
folder="${1:-}"
if [ -z "$folder" ]; then
  folder="$(mktemp -d)"
  trap 'rm -rf "$folder"' EXIT
fi
mkdir -p "$folder"
