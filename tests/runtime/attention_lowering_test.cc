// ONNX's Attention on the AI Core: one kernel for the softmax, whatever hides positions.
#include <limits>

#include "runtime/one_node.h"

namespace atc::runtime {
namespace {

constexpr double kTolerance = 2e-5;

// Two batches of 4 query heads over 2 key heads, in rank 4.
class Attention : public OneNode {
 public:
  Attention(std::int64_t rows, std::int64_t positions, DType dtype = DType::F32, std::size_t outputs = 1,
            int version = 24)
      : OneNode("Attention", version, outputs) {
    input(random_values(dtype, {2, 4, rows, 16}, 1));
    input(random_values(dtype, {2, 2, positions, 16}, 2));
    input(random_values(dtype, {2, 2, positions, 24}, 3));
  }
};

TEST(LowerAttention, RanksScalesAndSoftCaps) {
  Attention(7, 20).expect_on_ai_core(kTolerance);
  Attention(7, 20, DType::F32, 1, 23).real("scale", 0.3F).expect_on_ai_core(kTolerance);
  Attention(7, 20).real("softcap", 2).expect_on_ai_core(kTolerance);
  Attention(7, 20, DType::F16).expect_on_ai_core(4e-3);
  OneNode("Attention", 23)
      .input(random_values(DType::F32, {2, 7, 4 * 16}, 1))
      .input(random_values(DType::F32, {2, 20, 2 * 16}, 2))
      .input(random_values(DType::F32, {2, 20, 2 * 24}, 3))
      .attr("q_num_heads", 4)
      .attr("kv_num_heads", 2)
      .expect_on_ai_core(kTolerance);
}

TEST(LowerAttention, MasksOfEveryRank) {
  for (const Dims& dims : {Dims{7, 20}, Dims{1, 20}, Dims{4, 7, 20}, Dims{2, 1, 7, 20}, Dims{2, 4, 1, 20}})
    for (const DType dtype : {DType::F32, DType::Bool})
      for (const std::int64_t causal : {0, 1})
        Attention(7, 20)
            .input(random_values(dtype, dims, 4))
            .attr("is_causal", causal)
            .expect_on_ai_core(kTolerance);
}

TEST(LowerAttention, RowsThatSeeNothingAreZero) {
  Attention(7, 20)
      .input(from_doubles(DType::Bool, {7, 20}, std::vector<double>(140)))
      .expect_on_ai_core(kTolerance);
  const std::vector<double> hidden(140, -std::numeric_limits<double>::infinity());
  Attention(7, 20, DType::F32, 4)
      .input(from_doubles(DType::F32, {7, 20}, hidden))
      .attr("qk_matmul_output_mode", 3)
      .expect_on_ai_core(kTolerance);
}

TEST(LowerAttention, PositionsBehindAShortMaskAreHidden) {
  for (const DType dtype : {DType::F32, DType::Bool})
    Attention(7, 20).input(random_values(dtype, {7, 13}, 4)).expect_on_ai_core(kTolerance);
}

TEST(LowerAttention, PastAndPresent) {
  for (const std::int64_t causal : {0, 1})
    for (const std::int64_t past : {0, 5}) {
      Attention n(3, 3, DType::F32, 3);
      n.absent()
          .input(random_values(DType::F32, {2, 2, past, 16}, 4))
          .input(random_values(DType::F32, {2, 2, past, 24}, 5))
          .attr("is_causal", causal);
      n.expect_on_ai_core(kTolerance);
    }
}

TEST(LowerAttention, CachesOfDifferentLengths) {
  for (const std::int64_t causal : {0, 1})
    for (const int mask : {0, 1, 2}) {
      Attention n(4, 20);
      mask == 0 ? n.absent() : n.input(random_values(mask == 1 ? DType::Bool : DType::F32, {4, 20}, 4));
      // The first cache is shorter than the queries are many: its first rows see nothing when causal.
      n.absent().absent().input(from_int64s(DType::I64, {2}, std::vector<std::int64_t>{3, 17}));
      n.attr("is_causal", causal).expect_on_ai_core(kTolerance);
    }
}

TEST(LowerAttention, ScoresAreAnOutput) {
  for (const std::int64_t mode : {0, 1, 2, 3})
    for (const DType dtype : {DType::F32, DType::Bool})
      Attention(7, 20, DType::F32, 4)
          .input(random_values(dtype, {2, 1, 7, 20}, 4))
          .attr("qk_matmul_output_mode", mode)
          .attr("is_causal", 1)
          .real("softcap", 3)
          .expect_on_ai_core(1e-4);
}

TEST(LowerAttention, WhatTheKernelDoesNotTakeRunsOnTheAiCpu) {
  Attention(4, 9, DType::F64).expect_on_ai_cpu();
  // Scores behind the end of the mask would have to be shown as hidden.
  Attention(7, 20, DType::F32, 4)
      .input(random_values(DType::F32, {7, 13}, 4))
      .attr("qk_matmul_output_mode", 2)
      .expect_on_ai_cpu();
}

}  // namespace
}  // namespace atc::runtime
