#include "layer_norm_rows.h"

extern "C" __global__ __aicore__ void layer_norm(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling) {
  GET_TILING_DATA(data, tiling);
  KernelLayerNorm<2> kernel;
  kernel.Process(x, gamma, beta, y, data);
}
