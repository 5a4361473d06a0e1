#!/usr/bin/env bash
# Installs what building and testing need, from Debian's packages; nothing when all of it is there.
# Usage: tools/setup.sh [build|test|bench]; "test" adds what only the tests use, "bench" what the micro-benchmarks do.
set -euo pipefail

packages=(
  ca-certificates ccache cmake g++ ninja-build
  libboost-context-dev libcli11-dev libgmock-dev libgtest-dev libonnx-dev libprotobuf-dev libspdlog-dev libxxhash-dev
  nlohmann-json3-dev protobuf-compiler
)
if [ "${1:-build}" = test ]; then
  packages+=(libonnx-testdata)
fi
if [ "${1:-build}" = bench ]; then
  packages+=(libbenchmark-dev)
fi

missing=()
for p in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing+=("$p")
done
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "setup: not root and no sudo; install: ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
echo "setup: installing ${missing[*]}"
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
