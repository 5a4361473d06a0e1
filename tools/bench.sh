#!/usr/bin/env bash
# Run and compile time beside ONNX Runtime, in one run on this machine.
#   ORT_NODE=<.../node_modules/onnxruntime-node> PEERS=<folder with ort_run.mjs> tools/bench.sh [case folder...]
# A case folder has model.onnx and test_data_set_0. Prints a line for each network and thread count, and the
# geometric mean of the ratios omrun / ONNX Runtime (origin precision, median of the runs).
set -euo pipefail
cd "$(dirname "$0")/.."
: "${ORT_NODE:?set ORT_NODE to the folder of the npm package onnxruntime-node}"
peers=${PEERS:-../shared/peers}
cases=${ATC_CASES:-../shared/cases}
runs=${RUNS:-40}
export ORT_NODE
if [ $# -eq 0 ]; then
  set -- "$cases"/exported/{squeezenet1_1,mobilenet_v3_small,bert_small}
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf '%-22s %7s %10s %10s %7s %8s\n' network threads ort_ms omrun_ms ratio atc_s
for case in "$@"; do
  name=$(basename "$case")
  begin=$(date +%s.%N)
  build/bin/atc --model="$case/model.onnx" --framework=5 --soc_version=Ascend910B3 --output="$work/$name" \
    --precision_mode_v2=origin --export_compile_stat=0 >"$work/log" || { cat "$work/log"; exit 1; }
  end=$(date +%s.%N)
  inputs=$(ls "$case"/test_data_set_0/input_*.pb | sort -V | paste -sd,)
  for threads in 1 2; do
    ort=$(node "$peers/ort_run.mjs" "$case/model.onnx" --inputs "$case/test_data_set_0" --threads $threads --runs "$runs" \
      --warmup 5 | sed -n 's/^run: median \([0-9.]*\) ms.*/\1/p')
    ours=$(build/bin/omrun --model "$work/$name.om" --input "$inputs" --threads $threads --loop "$runs" --warmup 5 --json |
      tr -d '\n ' | sed 's/.*"wall_ms":{"max":[0-9.e-]*,"median":\([0-9.e-]*\).*/\1/')
    echo "$name $threads $ort $ours $begin $end"
  done
done | awk '{ r = $4 / $3; s += log(r); n++
  printf "%-22s %7d %10.3f %10.3f %7.2f %8.2f\n", $1, $2, $3, $4, r, $6 - $5 }
  END { printf "geometric mean of omrun / ONNX Runtime: %.2f\n", exp(s / n) }'
