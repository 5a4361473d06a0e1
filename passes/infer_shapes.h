#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// Gives every value of the graph and its nested graphs the type that follows from the inputs; types that
/// were there before do not matter. E16002 listing all unknown operators together; type and shape
/// conflicts as the operators report them.
Status infer_shapes(ir::Graph& graph);

Pass infer_shapes_pass();  ///< "infer-shapes"; changes: values whose type is another than before

}  // namespace atc::passes
