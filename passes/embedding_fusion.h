#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// Rows of tables are gathered straight into the program that adds and normalizes them:
///
///     e = Gather(words, ids); t = Gather(types, kinds)
///     y = atc.Fused(e, positions, t, ...){Add, Add, LayerNormalization}
///         ->    y = atc.Fused(words, positions, types, ..., ids, kinds){gathers}
///
/// Tables of two axes, gathered along the first; the program reduces rows or nothing, in ND, and the rows are
/// its last axis, of 64 bytes or more. Not where something else reads the gathered rows. What ONNX Runtime
/// calls EmbedLayerNormalization is one case of it.
Pass embedding_fusion_pass();  ///< "embedding-fusion"; changes: Gathers taken in

}  // namespace atc::passes
