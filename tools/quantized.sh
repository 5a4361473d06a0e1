#!/usr/bin/env bash
# Quantized networks (QuantizeLinear/DequantizeLinear around products) against their limits, in origin and fp16:
#   given networks      99.9 % of an output's elements within one quantization step of the expected values
#   networks made here  cosine >= 0.999 with ONNX Runtime's outputs of the same network, for every output
#   ORT_NODE=<.../node_modules/onnxruntime-node> PEERS=<folder with quantize_qdq.py> tools/quantized.sh
# The second kind is made from float networks by quantize_qdq.py (needs Python with onnx and numpy); its cosine
# with the float network's outputs stands beside it, with ONNX Runtime's own, as what quantizing itself costs.
# BIN: folder of omverify (build/bin). Prints a line for each network and precision; exit 1 beyond a limit.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${ORT_NODE:?set ORT_NODE to the folder of the npm package onnxruntime-node}"
peers=${PEERS:-../shared/peers}
cases=${ATC_CASES:-../shared/cases}
bin=${BIN:-build/bin}
python=${PYTHON:-/usr/bin/python3}
export ORT_NODE
given=("$cases"/exported/{mlp_qdq,resnet18_qdq} "$cases"/models/qlstm_tract)
made=("$cases"/exported/{bert_small,llama_prefill,yolov5n_like})
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# run <precision> <options of omverify...>: "<share beyond one step> <least cosine>" of one case. Differences are
# judged below; a case that does not run ends the script.
run() {
  local precision=$1
  shift
  rm -f "$work/result.json"
  "$bin/omverify" "$@" --steps 1 --precision "$precision" --timeout 600 --json "$work/result.json" >"$work/log" || true
  if ! grep -q '^\(PASS\|FAIL\) ' "$work/log"; then
    cat "$work/log" >&2
    return 1
  fi
  sed -n -e 's/.*"beyond_steps": \([0-9.e+-]*\).*/\1/p' -e 's/.*"min_cosine": \([0-9.e+-]*\).*/\1/p' "$work/result.json" |
    paste -sd' '
}

# judge <network> <precision> <value> <">=" or "<="> <limit> <what it is> [note]
failed=0
judge() {
  local verdict=ok
  awk "BEGIN { exit !($3 $4 $5) }" || { verdict=BEYOND; failed=1; }
  printf '%-20s %-7s %-10s %2s %-6s %-7s %s\n' "$1" "$2" "$3" "$4" "$5" "$verdict" "$6${7:+ ($7)}"
}

printf '%-20s %-7s %-10s    %-6s\n' network mode value limit
for case in "${given[@]}"; do
  for precision in origin fp16; do
    result=$(run $precision "$case")
    read -r beyond _ <<<"$result"
    judge "$(basename "$case")" $precision "$beyond" '<=' 0.001 'share of elements beyond one step'
  done
done
for case in "${made[@]}"; do
  name=$(basename "$case")_qdq
  "$python" "$peers/quantize_qdq.py" "$case" "$work/$name" >"$work/quantized"
  ort=$(sed -n 's/.*cosine to float \([0-9.]*\).*/\1/p' "$work/quantized" | sort -g | head -1)
  # The same network with the float network's outputs.
  mkdir -p "$work/float/$name/test_data_set_0"
  cp "$work/$name/model.onnx" "$work/float/$name/"
  cp "$case"/test_data_set_0/*.pb "$work/float/$name/test_data_set_0/"
  for precision in origin fp16; do
    result=$(run $precision "$work/$name")
    read -r _ cosine <<<"$result"
    result=$(run $precision "$work/float/$name")
    read -r _ to_float <<<"$result"
    judge "$name" $precision "$cosine" '>=' 0.999 'least cosine' "to the float network $to_float, ONNX Runtime $ort"
  done
done
exit $failed
