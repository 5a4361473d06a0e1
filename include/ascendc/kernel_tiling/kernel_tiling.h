#pragma once

// The tiling structures under the names that kernels use.
#include "ascendc/tiling_structs.h"

using AscendC::tiling::ConfusionTransposeTiling;
using AscendC::tiling::LayerNormTiling;
using AscendC::tiling::RmsNormTiling;
using AscendC::tiling::SoftMaxTiling;
using AscendC::tiling::TCubeTiling;
