#!/usr/bin/env bash
# From a fresh Debian 12 to a network that runs on the simulated AI Core: installs packages, builds, compiles
# a model of models/, runs it, and says where the results are.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/setup.sh build
echo "== building (the first time takes some minutes)"
tools/build.sh atc omrun

out=build/quickstart
mkdir -p "$out"
echo "== atc: models/lenet5.onnx -> $out/lenet5.om"
build/bin/atc --model=models/lenet5.onnx --framework=5 --soc_version=Ascend910B3 --output="$out/lenet5" \
  --report="$out/report.json" --export_compile_stat=0
echo "== omrun: $out/lenet5.om on the simulated AI Core"
build/bin/omrun --model "$out/lenet5.om" --input models/lenet5_digit.npy --output "$out" --outfmt NPY
echo "== results: outputs in $out/*.npy, compilation report in $out/report.json"
