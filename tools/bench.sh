#!/usr/bin/env bash
# Run, compile and load time, memory and scaling beside ONNX Runtime, in one run on this machine, as ratios.
#   ORT_NODE=<.../node_modules/onnxruntime-node> PEERS=<folder with ort_run.mjs> tools/bench.sh [option...] [case folder...]
# A case folder has model.onnx and test_data_set_0; without any: those of $ATC_CASES/exported. `--help` lists the options,
# `--sections run` measures inference alone.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${ORT_NODE:?set ORT_NODE to the folder of the npm package onnxruntime-node}"
export ORT_NODE
exec python3 tests/bench/host_bench.py "$@"
