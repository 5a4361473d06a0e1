#pragma once

// Ascend C for a host compiler: kernels written for the hardware compile unchanged and run on the simulated
// AI Core (atc/core_api.h). Scalar code may use the host's <cmath>.
#include <cmath>

#include "ascendc/cube.h"
#include "ascendc/data_copy.h"
#include "ascendc/debug.h"
#include "ascendc/functions.h"
#include "ascendc/gather.h"
#include "ascendc/list_tensor.h"
#include "ascendc/normalization.h"
#include "ascendc/operators.h"
#include "ascendc/pools.h"
#include "ascendc/quantization.h"
#include "ascendc/queues.h"
#include "ascendc/reduce.h"
#include "ascendc/refused.h"
#include "ascendc/shapes.h"
#include "ascendc/softmax.h"
#include "ascendc/top_k.h"
