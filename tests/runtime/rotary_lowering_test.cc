// RotaryEmbedding on the AI Core: one vector program, and gathers of the tables' rows.
#include "runtime/one_node.h"

namespace atc::runtime {
namespace {

constexpr double kTolerance = 1e-6;

Tensor ids(std::vector<std::int64_t> values) { return from_int64s(DType::I64, {2, 5}, values); }

TEST(LowerRotaryEmbedding, HalvesAndNeighboursOfHeads) {
  for (const std::int64_t interleaved : {0, 1})
    for (const std::int64_t turned : {0, 16, 8}) {
      const std::int64_t half = turned == 0 ? 8 : turned / 2;
      OneNode("RotaryEmbedding", 23)
          .input(random_values(DType::F32, {2, 3, 5, 16}, 1))
          .constant(random_values(DType::F32, {50, half}, 2, 1))
          .constant(random_values(DType::F32, {50, half}, 3, 1))
          .input(ids({0, 1, 2, 3, 4, 49, 7, 7, 0, 30}))
          .attr("interleaved", interleaved)
          .attr("rotary_embedding_dim", turned)
          .expect_on_ai_core(kTolerance);
      OneNode("RotaryEmbedding", 23)
          .input(random_values(DType::F32, {2, 5, 3 * 16}, 1))
          .input(random_values(DType::F32, {2, 5, half}, 2, 1))
          .input(random_values(DType::F32, {2, 5, half}, 3, 1))
          .attr("num_heads", 3)
          .attr("interleaved", interleaved)
          .attr("rotary_embedding_dim", turned)
          .expect_on_ai_core(kTolerance);
    }
}

TEST(LowerRotaryEmbedding, HalfPrecision) {
  for (const DType dtype : {DType::F16, DType::BF16})
    OneNode("RotaryEmbedding", 23)
        .input(random_values(dtype, {2, 3, 5, 16}, 1))
        .input(random_values(dtype, {2, 5, 8}, 2, 1))
        .input(random_values(dtype, {2, 5, 8}, 3, 1))
        .expect_on_ai_core(dtype == DType::F16 ? 1e-3 : 1e-2);
}

TEST(LowerRotaryEmbedding, DoublesRunOnTheAiCpu) {
  OneNode("RotaryEmbedding", 23)
      .input(random_values(DType::F64, {2, 3, 5, 16}, 1))
      .input(random_values(DType::F64, {2, 5, 8}, 2, 1))
      .input(random_values(DType::F64, {2, 5, 8}, 3, 1))
      .expect_on_ai_cpu();
}

}  // namespace
}  // namespace atc::runtime
