// Reductions on the AI Core, whatever their axes.
#include <limits>

#include "runtime/one_node.h"

namespace atc::runtime {
namespace {

constexpr double kTolerance = 2e-5;

struct Reduction : OneNode {
  Reduction(const char* op, Tensor x, std::vector<std::int64_t> axes, std::int64_t keepdims, int version)
      : OneNode(op, version) {
    input(std::move(x)).attr("keepdims", keepdims);
    if (version >= 18 || (version >= 13 && std::string(op) == "ReduceSum"))
      constant(from_int64s(DType::I64, {std::ssize(axes)}, axes));
    else
      ints("axes", std::move(axes));
  }
};

TEST(LowerReduce, AxesThatAreNotNeighbours) {
  for (const char* op : {"ReduceMax", "ReduceMin", "ReduceSum", "ReduceProd", "ReduceL1", "ReduceSumSquare",
                         "ReduceMean", "ReduceL2", "ReduceLogSumExp"})
    for (const int version : {13, 18})
      for (const std::int64_t keepdims : {0, 1}) {
        SCOPED_TRACE(std::string(op) + " since " + std::to_string(version));
        Reduction(op, random_values(DType::F32, {3, 4, 5, 6}, 1, 1.5), {0, 2}, keepdims, version)
            .expect_on_ai_core(kTolerance);
        Reduction(op, random_values(DType::F32, {2, 3, 2, 3, 2}, 2, 1.5), {4, 0, 2}, keepdims, version)
            .expect_on_ai_core(kTolerance);
        Reduction(op, random_values(DType::F32, {2, 3, 4, 5}, 3, 1.5), {0, 2, 3}, keepdims, version)
            .expect_on_ai_core(kTolerance);
      }
}

TEST(LowerReduce, LogarithmOfASumOverSeveralGroups) {
  Tensor x = random_values(DType::F32, {3, 4, 5}, 1);
  std::vector<double> v = to_doubles(x);
  for (double& e : v) e = std::abs(e) + 0.1;
  Reduction("ReduceLogSum", from_doubles(DType::F32, x.shape, v), {0, 2}, 0, 13)
      .expect_on_ai_core(kTolerance);
}

TEST(LowerReduce, LogarithmsOfSumsOfInfinities) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<double> v = {-kInfinity, -kInfinity, 1, kInfinity, -kInfinity, 2};
  Reduction n("ReduceLogSumExp", from_doubles(DType::F32, {3, 2}, v), {1}, 0, 13);
  const auto run = n.compiled("Ascend910B3");
  ASSERT_TRUE(run.ok()) << run.status().to_string();
  EXPECT_TRUE(run->on_ai_cpu.empty());
  EXPECT_EQ(to_doubles(run->outputs[0]), (std::vector<double>{-kInfinity, kInfinity, 2}));
}

TEST(LowerReduce, AxesOfOneElementPartNothing) {
  for (const char* op : {"ReduceSum", "ReduceSumSquare", "ReduceMean"})
    Reduction(op, random_values(DType::F32, {3, 1, 5, 6}, 1), {0, 2}, 1, 13).expect_on_ai_core(kTolerance);
}

TEST(LowerReduce, IntegersAreExact) {
  for (const char* op : {"ReduceMax", "ReduceMin", "ReduceSum", "ReduceProd", "ReduceL1", "ReduceSumSquare"})
    for (const DType dtype : {DType::I32, DType::I64}) {
      SCOPED_TRACE(std::string(op) + " of " + std::string(name(dtype)));
      Reduction(op, random_integers(dtype, {3, 4, 5}, -9, 9, 1), {0, 2}, 0, 13).expect_on_ai_core();
    }
  for (const DType dtype : {DType::I8, DType::U8, DType::Bool})
    for (const char* op : {"ReduceMax", "ReduceMin"}) {
      SCOPED_TRACE(std::string(op) + " of " + std::string(name(dtype)));
      const std::int64_t low = dtype == DType::I8 ? -100 : 0;
      Reduction(op, random_integers(dtype, {3, 4, 5}, low, dtype == DType::Bool ? 1 : 100, 1), {0, 2}, 1, 20)
          .expect_on_ai_core();
    }
}

TEST(LowerReduce, HalvesKeepTheirRange) {
  // Squares of 300 lie outside fp16, the root of their sum does not.
  std::vector<double> v(24, 300);
  Reduction("ReduceL2", from_doubles(DType::F16, {2, 3, 4}, v), {0, 2}, 0, 13).expect_on_ai_core(1e-3);
}

TEST(LowerReduce, MeansOfIntegersAreCutOnce) {
  Reduction("ReduceMean", random_integers(DType::I32, {3, 4, 5}, -9, 9, 1), {0, 2}, 1, 13).expect_on_ai_cpu();
}

}  // namespace
}  // namespace atc::runtime
