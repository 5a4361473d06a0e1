// What transformers are made of, as exporters write it: the kernels that come out, and their values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "atc/ir/text.h"
#include "runtime/compile_run.h"
#include "runtime/reference_graph.h"

namespace atc::runtime {
namespace {

struct Case {
  const char* name;
  const char* air;
  const char* kernel;  ///< operator type of the fused task; how many there are
  int count = 1;
  int tasks = -1;  ///< of the whole plan; -1: not checked
};

constexpr Case kCases[] = {
    {"bert", R"(air 1
graph "g"(%0 "q": f32[2,12,32], %1 "k": f32[2,12,32], %2 "v": f32[2,12,32], %3 "m": f32[2,1,1,12]) -> (%18) {
  %4 "shape" = const i64[4] {2,12,4,8}
  %5 "flat" = const i64[3] {2,12,32}
  %6 "root" = const f32[] {2.828427}
  %7 = Reshape@14(%0, %4) : f32[2,12,4,8]
  %8 = Transpose@13(%7) {perm=[0,2,1,3]} : f32[2,4,12,8]
  %9 = Reshape@14(%1, %4) : f32[2,12,4,8]
  %10 = Transpose@13(%9) {perm=[0,2,3,1]} : f32[2,4,8,12]
  %11 = Reshape@14(%2, %4) : f32[2,12,4,8]
  %12 = Transpose@13(%11) {perm=[0,2,1,3]} : f32[2,4,12,8]
  %13 = MatMul@13(%8, %10) : f32[2,4,12,12]
  %14 = Div@14(%13, %6) : f32[2,4,12,12]
  %15 = Add@14(%14, %3) : f32[2,4,12,12]
  %16 = Softmax@13(%15) : f32[2,4,12,12]
  %17 = MatMul@13(%16, %12) : f32[2,4,12,8]
  %19 = Transpose@13(%17) {perm=[0,2,1,3]} : f32[2,12,4,8]
  %18 "y" = Reshape@14(%19, %5) : f32[2,12,32]
})",
     "FlashAttentionScore", 1, 1},
    {"scaled_operands_rank_3", R"(air 1
graph "g"(%0 "q": f32[3,7,16], %1 "k": f32[3,19,16], %2 "v": f32[3,19,24]) -> (%9) {
  %3 "c" = const f32[] {0.5}
  %4 = Mul@14(%0, %3) : f32[3,7,16]
  %5 = Transpose@13(%1) {perm=[0,2,1]} : f32[3,16,19]
  %6 = Mul@14(%3, %5) : f32[3,16,19]
  %7 = MatMul@13(%4, %6) : f32[3,7,19]
  %8 = Softmax@13(%7) {axis=2} : f32[3,7,19]
  %9 "y" = MatMul@13(%8, %2) : f32[3,7,24]
})",
     "FlashAttentionScore", 1, 1},
    {"two_masks", R"(air 1
graph "g"(%0 "q": f32[1,2,5,16], %1 "k": f32[1,2,9,16], %2 "v": f32[1,2,9,16], %3 "m": f32[5,9], %4 "b": f32[2,1,9]) -> (%10) {
  %5 = Transpose@13(%1) {perm=[0,1,3,2]} : f32[1,2,16,9]
  %6 = MatMul@13(%0, %5) : f32[1,2,5,9]
  %7 = Sub@14(%6, %3) : f32[1,2,5,9]
  %8 = Add@14(%4, %7) : f32[1,2,5,9]
  %9 = Softmax@13(%8) : f32[1,2,5,9]
  %10 "y" = MatMul@13(%9, %2) : f32[1,2,5,16]
})",
     "FlashAttentionScore"},
    {"where_drops", R"(air 1
graph "g"(%0 "q": f32[2,6,16], %1 "k": f32[2,16,6], %2 "v": f32[2,6,16], %3 "m": f32[6,6]) -> (%11) {
  %4 "zero" = const f32[] {0.4}
  %5 "low" = const f32[] {-10000.0}
  %6 = Greater@13(%3, %4) : bool[6,6]
  %7 = MatMul@13(%0, %1) : f32[2,6,6]
  %8 = Where@9(%6, %5, %7) : f32[2,6,6]
  %10 = Softmax@13(%8) : f32[2,6,6]
  %11 "y" = MatMul@13(%10, %2) : f32[2,6,16]
})",
     "FlashAttentionScore"},
    {"soft_cap", R"(air 1
graph "g"(%0 "q": f32[2,6,16], %1 "k": f32[2,16,6], %2 "v": f32[2,6,16], %3 "m": f32[6,6]) -> (%11) {
  %4 "cap" = const f32[] {3.0}
  %7 = MatMul@13(%0, %1) : f32[2,6,6]
  %8 = Div@14(%7, %4) : f32[2,6,6]
  %5 = Tanh@13(%8) : f32[2,6,6]
  %6 = Mul@14(%5, %4) : f32[2,6,6]
  %9 = Add@14(%6, %3) : f32[2,6,6]
  %10 = Softmax@13(%9) : f32[2,6,6]
  %11 "y" = MatMul@13(%10, %2) : f32[2,6,16]
})",
     "FlashAttentionScore", 1, 1},
    {"grouped_heads_with_cache", R"(air 1
graph "g"(%0 "q": f32[1,4,1,16], %1 "pk": f32[1,2,7,16], %2 "pv": f32[1,2,7,16], %3 "k": f32[1,2,1,16], %4 "v": f32[1,2,1,16]) -> (%22) {
  %5 "axes" = const i64[1] {2}
  %6 "wide" = const i64[5] {1,2,2,8,16}
  %7 "heads" = const i64[4] {1,4,8,16}
  %8 = Concat@13(%1, %3) {axis=2} : f32[1,2,8,16]
  %9 = Concat@13(%2, %4) {axis=-2} : f32[1,2,8,16]
  %10 = Unsqueeze@13(%8, %5) : f32[1,2,1,8,16]
  %11 = Expand@13(%10, %6) : f32[1,2,2,8,16]
  %12 = Reshape@14(%11, %7) : f32[1,4,8,16]
  %13 = Unsqueeze@13(%9, %5) : f32[1,2,1,8,16]
  %14 = Expand@13(%13, %6) : f32[1,2,2,8,16]
  %15 = Reshape@14(%14, %7) : f32[1,4,8,16]
  %16 = Transpose@13(%12) {perm=[0,1,3,2]} : f32[1,4,16,8]
  %20 = MatMul@13(%0, %16) : f32[1,4,1,8]
  %21 = Softmax@13(%20) : f32[1,4,1,8]
  %22 "y" = MatMul@13(%21, %15) : f32[1,4,1,16]
})",
     "FlashAttentionScore", 1, 1},
    // Others read the weights: nothing to hide them in.
    {"weights_are_an_output", R"(air 1
graph "g"(%0 "q": f32[2,6,16], %1 "k": f32[2,16,6], %2 "v": f32[2,6,16]) -> (%11, %10) {
  %7 = MatMul@13(%0, %1) : f32[2,6,6]
  %10 "w" = Softmax@13(%7) : f32[2,6,6]
  %11 "y" = MatMul@13(%10, %2) : f32[2,6,16]
})",
     "FlashAttentionScore", 0},
    {"softmax_along_rows", R"(air 1
graph "g"(%0 "q": f32[2,6,16], %1 "k": f32[2,16,6], %2 "v": f32[2,6,16]) -> (%11) {
  %7 = MatMul@13(%0, %1) : f32[2,6,6]
  %10 = Softmax@13(%7) {axis=1} : f32[2,6,6]
  %11 "y" = MatMul@13(%10, %2) : f32[2,6,16]
})",
     "FlashAttentionScore", 0},
    {"joint_projection", R"(air 1
graph "g"(%0 "x": f32[1,12,16]) -> (%30) {
  %1 "wq" = const f32[16,32] splat 0.5
  %2 "wk" = const f32[16,32] splat 0.25
  %3 "wv" = const f32[16,32] splat 0.125
  %4 "bq" = const f32[32] splat 0.5
  %5 "bk" = const f32[32] splat 0.25
  %6 "bv" = const f32[32] splat 0.125
  %7 "shape" = const i64[4] {1,12,4,8}
  %8 = MatMul@13(%0, %1) : f32[1,12,32]
  %9 = MatMul@13(%0, %2) : f32[1,12,32]
  %10 = MatMul@13(%0, %3) : f32[1,12,32]
  %11 = Add@14(%8, %4) : f32[1,12,32]
  %12 = Add@14(%5, %9) : f32[1,12,32]
  %13 = Add@14(%10, %6) : f32[1,12,32]
  %14 = Reshape@14(%11, %7) : f32[1,12,4,8]
  %15 = Reshape@14(%12, %7) : f32[1,12,4,8]
  %16 = Reshape@14(%13, %7) : f32[1,12,4,8]
  %17 = Transpose@13(%14) {perm=[0,2,1,3]} : f32[1,4,12,8]
  %18 = Transpose@13(%15) {perm=[0,2,3,1]} : f32[1,4,8,12]
  %19 = Transpose@13(%16) {perm=[0,2,1,3]} : f32[1,4,12,8]
  %20 = MatMul@13(%17, %18) : f32[1,4,12,12]
  %21 = Softmax@13(%20) : f32[1,4,12,12]
  %22 = MatMul@13(%21, %19) : f32[1,4,12,8]
  %30 "y" = Transpose@13(%22) {perm=[0,2,1,3]} : f32[1,12,4,8]
})",
     "FlashAttentionScore", 1, 2},
    {"rotate_half_with_tables", R"(air 1
graph "g"(%0 "x": f32[1,6,32], %1 "p": f32[1,6]) -> (%25) {
  %2 "cos" = const f32[9,8] splat 0.5
  %3 "sin" = const f32[9,8] splat 0.25
  %4 "shape" = const i64[4] {1,6,4,8}
  %5 "axes" = const i64[1] {1}
  %6 "zero" = const i64[1] {0}
  %7 "half" = const i64[1] {4}
  %8 "all" = const i64[1] {9223372036854775807}
  %9 "last" = const i64[1] {3}
  %26 "four" = const f32[] {4.0}
  %27 = Mul@14(%1, %26) : f32[1,6]
  %28 = Abs@13(%27) : f32[1,6]
  %10 = Cast@13(%28) {to=7} : i64[1,6]
  %11 = Reshape@14(%0, %4) : f32[1,6,4,8]
  %12 = Transpose@13(%11) {perm=[0,2,1,3]} : f32[1,4,6,8]
  %13 = Gather@13(%2, %10) : f32[1,6,8]
  %14 = Unsqueeze@13(%13, %5) : f32[1,1,6,8]
  %15 = Gather@13(%3, %10) : f32[1,6,8]
  %16 = Unsqueeze@13(%15, %5) : f32[1,1,6,8]
  %17 = Mul@14(%12, %14) : f32[1,4,6,8]
  %18 = Slice@13(%12, %6, %7, %9) : f32[1,4,6,4]
  %19 = Slice@13(%12, %7, %8, %9) : f32[1,4,6,4]
  %20 = Neg@13(%19) : f32[1,4,6,4]
  %21 = Concat@13(%20, %18) {axis=-1} : f32[1,4,6,8]
  %22 = Mul@14(%21, %16) : f32[1,4,6,8]
  %25 "y" = Add@14(%17, %22) : f32[1,4,6,8]
})",
     "RotaryPositionEmbedding", 1, 3},
    {"interleaved", R"(air 1
graph "g"(%0 "x": f32[2,3,6,8], %1 "cos": f32[6,8], %2 "sin": f32[6,8]) -> (%25) {
  %3 "axes" = const i64[1] {4}
  %4 "shape" = const i64[4] {2,3,6,8}
  %5 "zero" = const i64[1] {0}
  %6 "one" = const i64[1] {1}
  %7 "two" = const i64[1] {2}
  %8 "all" = const i64[1] {9223372036854775807}
  %9 "last" = const i64[1] {-1}
  %10 = Slice@13(%0, %5, %8, %9, %7) : f32[2,3,6,4]
  %11 = Slice@13(%0, %6, %8, %9, %7) : f32[2,3,6,4]
  %12 = Neg@13(%11) : f32[2,3,6,4]
  %13 = Unsqueeze@13(%12, %3) : f32[2,3,6,4,1]
  %14 = Unsqueeze@13(%10, %3) : f32[2,3,6,4,1]
  %15 = Concat@13(%13, %14) {axis=-1} : f32[2,3,6,4,2]
  %16 = Reshape@14(%15, %4) : f32[2,3,6,8]
  %17 = Mul@14(%1, %0) : f32[2,3,6,8]
  %18 = Mul@14(%2, %16) : f32[2,3,6,8]
  %25 "y" = Add@14(%18, %17) : f32[2,3,6,8]
})",
     "RotaryPositionEmbedding", 1, 1},
    {"halves_rotated_apart", R"(air 1
graph "g"(%0 "x": f32[2,3,6,8], %1 "cos": f32[6,4], %2 "sin": f32[6,4]) -> (%25) {
  %3, %4 = Split@11(%0) {axis=-1, split=[4,4]} : f32[2,3,6,4], f32[2,3,6,4]
  %5 = Mul@14(%3, %1) : f32[2,3,6,4]
  %6 = Mul@14(%4, %2) : f32[2,3,6,4]
  %7 = Sub@14(%5, %6) : f32[2,3,6,4]
  %8 = Mul@14(%4, %1) : f32[2,3,6,4]
  %9 = Mul@14(%3, %2) : f32[2,3,6,4]
  %10 = Add@14(%8, %9) : f32[2,3,6,4]
  %25 "y" = Concat@13(%7, %10) {axis=-1} : f32[2,3,6,8]
})",
     "RotaryPositionEmbedding", 1, 1},
    {"swiglu_split", R"(air 1
graph "g"(%0 "x": f32[5,32]) -> (%25) {
  %3, %4 = Split@11(%0) {axis=-1, split=[16,16]} : f32[5,16], f32[5,16]
  %5 = Sigmoid@13(%3) : f32[5,16]
  %6 = Mul@14(%3, %5) : f32[5,16]
  %25 "y" = Mul@14(%4, %6) : f32[5,16]
})",
     "SwiGlu", 1, 1},
    {"swiglu_strided", R"(air 1
graph "g"(%0 "x": f32[5,32]) -> (%25) {
  %5 "zero" = const i64[1] {0}
  %6 "one" = const i64[1] {1}
  %7 "two" = const i64[1] {2}
  %8 "all" = const i64[1] {9223372036854775807}
  %9 "last" = const i64[1] {1}
  %10 = Slice@13(%0, %5, %8, %9, %7) : f32[5,16]
  %11 = Slice@13(%0, %6, %8, %9, %7) : f32[5,16]
  %12 = Sigmoid@13(%10) : f32[5,16]
  %13 = Mul@14(%10, %12) : f32[5,16]
  %25 "y" = Mul@14(%13, %11) : f32[5,16]
})",
     "SwiGlu", 1, 1},
    {"swiglu_products", R"(air 1
graph "g"(%0 "x": f32[1,5,16]) -> (%25) {
  %1 "wg" = const f32[16,24] splat 0.5
  %2 "wu" = const f32[16,24] splat 0.25
  %3 = MatMul@13(%0, %1) : f32[1,5,24]
  %4 = MatMul@13(%0, %2) : f32[1,5,24]
  %5 = Sigmoid@13(%3) : f32[1,5,24]
  %6 = Mul@14(%3, %5) : f32[1,5,24]
  %25 "y" = Mul@14(%6, %4) : f32[1,5,24]
})",
     "SwiGlu", 1, 2},
};

Tensor ramp(DType dtype, const Dims& dims, std::size_t seed) {
  std::vector<double> values(static_cast<std::size_t>(element_count(dims)));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<double>((i * 37 + seed * 53) % 101) / 50.0 - 1.0;
  return from_doubles(dtype, dims, values);
}

// Splats stand for tables and weights: they get values of their own.
void vary_constants(ir::Graph& graph) {
  std::size_t seed = 7;
  for (ir::Value* v : graph.values())
    if (v->is_constant() && v->type.dtype == DType::F32 && v->constant().count() > 1) {
      const Tensor t = ramp(DType::F32, v->type.dims(), seed++);
      graph.replace_uses(v, graph.add_constant(v->name(), t));
    }
}

struct Target : CompileTarget {
  double tolerance;  ///< root mean square of the error, relative to the values'
};

class Transformers : public testing::TestWithParam<Target> {};

TEST_P(Transformers, FuseAndGiveWhatTheReferencesGive) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    auto graph = ir::parse(c.air);
    ASSERT_TRUE(graph.ok()) << graph.status().to_string();
    vary_constants(**graph);
    std::vector<Tensor> inputs;
    for (const ir::Value* v : (*graph)->inputs())
      inputs.push_back(ramp(DType::F32, v->type.dims(), inputs.size()));
    const auto expected = evaluate_reference(**graph, inputs);
    ASSERT_TRUE(expected.ok()) << expected.status().to_string();
    const auto actual = compile_and_run(**graph, GetParam(), inputs);
    ASSERT_TRUE(actual.ok()) << actual.status().to_string();
    const std::vector<std::string>& tasks = actual->tasks;
    EXPECT_EQ(std::count(tasks.begin(), tasks.end(), c.kernel), c.count) << testing::PrintToString(tasks);
    // In fp16 the model's fp32 inputs and outputs are converted on top.
    if (c.tasks >= 0 && GetParam().precision == passes::Precision::Origin) {
      EXPECT_EQ(std::ssize(tasks), c.tasks) << testing::PrintToString(tasks);
    }
    for (std::size_t i = 0; i < expected->size(); ++i) {
      const double error = relative_error(actual->outputs[i], (*expected)[i]);
      EXPECT_TRUE(error <= GetParam().tolerance) << "output " << i << ": error " << error;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Transformers,
                         testing::Values(Target{{"Ascend910B3", passes::Precision::Origin}, 1e-4},
                                         Target{{"Ascend310P3", passes::Precision::Origin}, 1e-4},
                                         Target{{"Ascend910B3", passes::Precision::Fp16}, 0.01},
                                         Target{{"Ascend310P3", passes::Precision::Fp16}, 0.01}),
                         [](const auto& tested) {
                           return std::string(tested.param.chip) +
                                  (tested.param.precision == passes::Precision::Origin ? "_origin" : "_fp16");
                         });

}  // namespace
}  // namespace atc::runtime
