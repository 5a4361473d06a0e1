#pragma once

#include <optional>
#include <string>

#include "atc/ir/graph.h"

namespace atc::ops {

/// How an atc::Fused node walks its operands where these are not simply broadcast: position (i0, i1, ...) of
/// the space is element offset + sum i_k * strides[k] of the operand's storage, which is ND.
struct FusedViews {
  struct Operand {
    std::int64_t offset = 0;
    Dims strides;  ///< as many as the space has dims
  };
  Dims space;
  std::vector<Operand> operands;  ///< the node's inputs, then its outputs
};

void set_fused_views(ir::Node& node, const FusedViews& views);
/// nullopt for a node without views. Throws InternalError when there are views and they do not fit the node.
std::optional<FusedViews> fused_views(const ir::Node& node);
bool has_fused_views(const ir::Node& node);

}  // namespace atc::ops
