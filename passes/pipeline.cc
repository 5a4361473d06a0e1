#include "passes/pipeline.h"

#include "passes/add_norm_fusion.h"
#include "passes/attention_fusion.h"
#include "passes/attention_lowering.h"
#include "passes/attention_orientation.h"
#include "passes/cast_algebra.h"
#include "passes/cast_fusion.h"
#include "passes/channels_last.h"
#include "passes/common_subexpression.h"
#include "passes/constant_folding.h"
#include "passes/conv_affine.h"
#include "passes/conv_batch_norm.h"
#include "passes/copy_fusion.h"
#include "passes/cube_form.h"
#include "passes/custom_norms.h"
#include "passes/custom_subgraphs.h"
#include "passes/custom_types.h"
#include "passes/dead_code.h"
#include "passes/decompose.h"
#include "passes/dequantize_per_reader.h"
#include "passes/dynamic_regions.h"
#include "passes/embedding_fusion.h"
#include "passes/epilogue_fusion.h"
#include "passes/fast_gelu.h"
#include "passes/fractal_layout.h"
#include "passes/gate_merge.h"
#include "passes/gelu_fusion.h"
#include "passes/group_norm_fusion.h"
#include "passes/hard_swish_fusion.h"
#include "passes/identity_removal.h"
#include "passes/in_place_parts.h"
#include "passes/infer_shapes.h"
#include "passes/integer_form.h"
#include "passes/layout.h"
#include "passes/masked_softmax_fusion.h"
#include "passes/matmul_merge.h"
#include "passes/norm_fusion.h"
#include "passes/pack_weights.h"
#include "passes/pad_fusion.h"
#include "passes/precision.h"
#include "passes/program_motion.h"
#include "passes/quantize_expand.h"
#include "passes/quantize_fusion.h"
#include "passes/quantize_motion.h"
#include "passes/quantize_scale.h"
#include "passes/quantize_sign.h"
#include "passes/random_seeds.h"
#include "passes/reshape_algebra.h"
#include "passes/rope_fusion.h"
#include "passes/slice_algebra.h"
#include "passes/softmax_fusion.h"
#include "passes/softmax_pooling.h"
#include "passes/softmax_shift.h"
#include "passes/swiglu_fusion.h"
#include "passes/swish_fusion.h"
#include "passes/transpose_motion.h"
#include "passes/transposed_operand.h"
#include "passes/vector_fusion.h"
#include "passes/view_fusion.h"
#include "passes/window_reshape.h"
#include "passes/zero_terms.h"

namespace atc::passes {

namespace {

// `parts`: ATC's names of single fusions in it, separated by blanks.
Pass optional(Pass pass, FusionKind kind = FusionKind::Graph, std::string_view parts = {}) {
  pass.optional = true;
  pass.kind = kind;
  pass.basic = false;
  pass.parts = parts;
  return pass;
}

constexpr std::string_view kEpilogues =
    "ATbeMatmulElemwiseFusionPass TbeConv2DElemwiseFusionPass TbeDepthwiseConvElemwiseFusionPass "
    "TbePoolElemwiseFusionPass";

// Optional, but on at every level.
Pass basic(Pass pass) {
  pass = optional(pass);
  pass.basic = true;
  return pass;
}

}  // namespace

std::vector<Pass> canonical_passes() {
  return {
      // What no output needs must not be typed, let alone refused.
      dead_code_pass(),
      random_seeds_pass(),

      early_constant_folding_pass(),
      infer_shapes_pass(),
      identity_removal_pass(),
      common_subexpression_pass(),
      dead_code_pass(),
  };
}

std::vector<Pass> simplifying_passes() {
  std::vector<Pass> passes = {
      constant_folding_pass(),
      identity_removal_pass(),

      // Arithmetic.
      optional(cast_algebra_pass()),
      optional(zero_terms_pass()),
      optional(softmax_shift_pass()),
      optional(pad_fusion_pass()),
      optional(conv_affine_pass()),

      // Moving elements.
      optional(reshape_algebra_pass()),
      optional(window_reshape_pass()),
      optional(slice_algebra_pass()),
      optional(transpose_motion_pass()),

      common_subexpression_pass(),
      dead_code_pass(),
  };
  for (Pass& pass : passes) pass.repeated = true;
  return passes;
}

std::vector<Pass> written_out_passes() {
  return {
      optional(group_norm_fusion_pass()), optional(layer_norm_fusion_pass()),
      optional(rms_norm_fusion_pass()),   optional(gelu_fusion_pass()),
      optional(hard_swish_fusion_pass()), optional(swish_fusion_pass()),
      optional(softmax_fusion_pass()),
  };
}

std::vector<Pass> pipeline() {
  std::vector<Pass> passes = canonical_passes();
  const std::vector<Pass> forms = {
      // From here on everything is static, or inside a region.
      dynamic_regions_pass(),

      // Quantized networks multiply integers. What of them stays in floating point is folded.
      optional(quantize_motion_pass()),
      optional(quantize_fusion_pass()),
      constant_folding_pass(),
      basic(quantize_expand_pass()),
      basic(quantize_sign_pass()),
  };
  const std::vector<Pass> simpler = {
      // What users give in place of them, whatever of the fusions in front is on.
      custom_norms_pass(),
      optional(add_layer_norm_fusion_pass()),
      optional(add_rms_norm_fusion_pass()),

      // Operators that have simpler forms take them; what that leaves to fold is folded.
      optional(conv_batch_norm_pass()),
      basic(decompose_pass()),
  };
  const std::vector<Pass> rest = {
      custom_subgraphs_pass(),
      custom_types_pass(),

      // Whole subgraphs that one kernel computes.
      optional(rope_fusion_pass()),
      optional(attention_orientation_pass()),
      optional(attention_fusion_pass()),
      basic(attention_lowering_pass()),
      optional(swiglu_fusion_pass()),
      optional(softmax_pooling_pass()),
      optional(masked_softmax_fusion_pass()),
      optional(gate_merge_pass()),
      basic(fast_gelu_pass()),
      dead_code_pass(),

      // Behind the attention fusion, which takes one factor between its products.
      quantize_scale_pass(),

      // Tasks: what runs on the cube or as a window, and vector programs around it.
      optional(dequantize_per_reader_pass()),
      integer_form_pass(),
      cube_form_pass(),
      optional(transposed_operand_pass()),
      optional(vector_fusion_pass(), FusionKind::Ub),
      vector_form_pass(),
      optional(program_motion_pass(), FusionKind::Ub),
      optional(epilogue_fusion_pass(), FusionKind::Ub, kEpilogues),
      optional(matmul_merge_pass()),

      // Storage: types, packed weights, formats.
      precision_pass(),
      optional(cast_fusion_pass(), FusionKind::Ub),
      layout_pass(),
      pack_weights_pass(),
      optional(copy_fusion_pass(), FusionKind::Ub),
      optional(channels_last_pass(), FusionKind::Ub),
      optional(view_fusion_pass(), FusionKind::Ub),
      optional(embedding_fusion_pass(), FusionKind::Ub),
      optional(fractal_layout_pass()),
      dead_code_pass(),
      optional(in_place_parts_pass()),
  };
  for (const std::vector<Pass>& group : {forms, written_out_passes(), simpler, simplifying_passes(), rest})
    passes.insert(passes.end(), group.begin(), group.end());
  return passes;
}

}  // namespace atc::passes
