#!/usr/bin/env bash
# Configures and builds into build/ (Release). Arguments are targets; none: everything.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -f build/build.ninja ] || cmake -S . -B build -G Ninja >/dev/null
if ! cmake --build build --target "${@:-all}" >build/build.log 2>&1; then
  tail -n 60 build/build.log >&2
  echo "build failed; the whole log is build/build.log" >&2
  exit 1
fi
