#pragma once

#include "atc/ir/graph.h"
#include "kernels/cube_conv.h"

namespace atc::ops {

/// 1-D and 2-D spatial lists as D, H, W; missing leading ones are `fill`.
std::array<std::int64_t, 3> three(const Dims& spatial, std::int64_t fill);

/// How an epilogue operand lies at positions of an NC1HWC0 output of logical dims `out` (N, C, spatial...):
/// a tensor in NC1HWC0 (or NC1HWC0_C04) that broadcasts along N or spatial axes, or one in ND that broadcasts
/// along any.
kernels::ConvAddress conv_address(const ir::Value* value, const Dims& out);
/// Those of all operands of a node's epilogue, `values` (Epilogue); an output may be stored channels last.
std::vector<kernels::ConvAddress> epilogue_addresses(const ir::Node& node,
                                                     const std::vector<const ir::Value*>& values,
                                                     const Dims& out);

}  // namespace atc::ops
