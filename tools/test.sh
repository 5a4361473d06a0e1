#!/usr/bin/env bash
# Installs packages, builds everything and runs every test. The last lines are ctest's summary.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/setup.sh test
tools/build.sh
ctest --test-dir build --output-on-failure -j "$(nproc)"
