#include "ops/node_case.h"

namespace atc::ops {
namespace {

using ::testing::HasSubstr;

TEST(MatMul, InfersNumpyShapes) {
  const auto shape = [](Dims a, Dims b) {
    return NodeCase("MatMul", 13).typed(DType::F32, a).typed(DType::F32, b).inferred();
  };
  EXPECT_EQ(shape({3, 4}, {4, 5}), "f32[3,5]");
  EXPECT_EQ(shape({4}, {4}), "f32[]");
  EXPECT_EQ(shape({4}, {2, 4, 5}), "f32[2,5]");
  EXPECT_EQ(shape({2, 3, 4}, {4}), "f32[2,3]");
  EXPECT_EQ(shape({7, 1, 3, 4}, {5, 4, 6}), "f32[7,5,3,6]");
  EXPECT_THAT(shape({3, 4}, {5, 6}), HasSubstr("has inner size 5, expected 4"));
  EXPECT_THAT(shape({2, 3, 4}, {3, 4, 5}), HasSubstr("batch dims [3], which do not broadcast"));
  EXPECT_THAT(shape({}, {4}), HasSubstr("has rank 0, expected at least 1"));
}

TEST(MatMul, KeepsSymbols) {
  const ir::Shape a = {ir::Dim::named("batch"), ir::Dim::named("len"), ir::Dim::of(4)};
  EXPECT_EQ(NodeCase("MatMul", 13).typed(DType::F32, a).typed(DType::F32, Dims{4, 5}).inferred(),
            "f32[batch,len,5]");
}

TEST(MatMul, IntegersComeWithOpset9) {
  EXPECT_THAT(NodeCase("MatMul", 8).typed(DType::I32, Dims{2, 2}).typed(DType::I32, Dims{2, 2}).inferred(),
              HasSubstr("found i32"));
  EXPECT_EQ(NodeCase("MatMul", 9).typed(DType::I32, Dims{2, 2}).typed(DType::I32, Dims{2, 2}).inferred(),
            "i32[2,2]");
}

TEST(MatMul, BroadcastsBatches) {
  const Tensor a = noise_tensor({2, 1, 3, 4}, 1);
  const Tensor b = noise_tensor({5, 4, 2}, 2);
  const Tensor y = NodeCase("MatMul", 13).data(a).data(b).run_one();
  const auto va = to_doubles(a);
  const auto vb = to_doubles(b);
  std::vector<double> expected;
  for (std::size_t p = 0; p < 2; ++p)
    for (std::size_t q = 0; q < 5; ++q)
      for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 2; ++j) {
          double sum = 0;
          for (std::size_t k = 0; k < 4; ++k) sum += va[(p * 3 + i) * 4 + k] * vb[(q * 4 + k) * 2 + j];
          expected.push_back(sum);
        }
  expect_near(y, {2, 5, 3, 2}, expected);
}

TEST(MatMul, Vectors) {
  expect_near(NodeCase("MatMul", 13).data(f32({3}, {1, 2, 3})).data(f32({3}, {4, 5, 6})).run_one(), {}, {32});
  expect_near(NodeCase("MatMul", 13).data(f32({2}, {1, 2})).data(f32({2, 3}, {1, 2, 3, 4, 5, 6})).run_one(),
              {3}, {9, 12, 15});
}

TEST(MatMul, Int64IsExactAndWraps) {
  const std::int64_t big = (std::int64_t{1} << 60) + 1;
  const Tensor y =
      NodeCase("MatMul", 13).data(i64({1, 2}, {big, 1})).data(i64({2, 2}, {1, 16, 2, 3})).run_one();
  EXPECT_EQ(to_int64s(y), (std::vector<std::int64_t>{big + 2, 16 + 3}));
}

TEST(Gemm, InfersShape) {
  EXPECT_EQ(NodeCase("Gemm", 13)
                .typed(DType::F32, Dims{4, 3})
                .typed(DType::F32, Dims{5, 4})
                .typed(DType::F32, Dims{3, 1})
                .attr("transA", 1)
                .attr("transB", 1)
                .inferred(),
            "f32[3,5]");
  EXPECT_THAT(NodeCase("Gemm", 13).typed(DType::F32, Dims{4, 3}).typed(DType::F32, Dims{5, 4}).inferred(),
              HasSubstr("has inner size 5, expected 3"));
  EXPECT_THAT(NodeCase("Gemm", 13)
                  .typed(DType::F32, Dims{4, 3})
                  .typed(DType::F32, Dims{3, 5})
                  .typed(DType::F32, Dims{4})
                  .inferred(),
              HasSubstr("does not broadcast to the product [4,5]"));
}

TEST(Gemm, TheAddendIsOptionalSince11) {
  EXPECT_THAT(NodeCase("Gemm", 9).typed(DType::F32, Dims{4, 3}).typed(DType::F32, Dims{3, 5}).inferred(),
              HasSubstr("has 2 inputs, expected 3"));
  EXPECT_EQ(NodeCase("Gemm", 11).typed(DType::F32, Dims{4, 3}).typed(DType::F32, Dims{3, 5}).inferred(),
            "f32[4,5]");
}

TEST(Gemm, LegacyBroadcastMustBeAskedFor) {
  const auto gemm = [](int broadcast) {
    return NodeCase("Gemm", 6)
        .typed(DType::F32, Dims{4, 3})
        .typed(DType::F32, Dims{3, 5})
        .typed(DType::F32, Dims{5})
        .attr("broadcast", broadcast)
        .inferred();
  };
  EXPECT_EQ(gemm(1), "f32[4,5]");
  EXPECT_THAT(gemm(0), HasSubstr("does not equal (broadcast is 0) the product [4,5]"));
}

TEST(Gemm, ScalesTransposesAndAdds) {
  // A' = [[1,3],[2,4]], B' = [[5,7],[6,8]]; A'B' = [[23,31],[34,46]]
  const auto y = NodeCase("Gemm", 13)
                     .data(f32({2, 2}, {1, 2, 3, 4}))
                     .constant(f32({2, 2}, {5, 6, 7, 8}))
                     .constant(f32({2, 1}, {10, 20}))
                     .attr("alpha", ir::Attribute(0.5F))
                     .attr("beta", ir::Attribute(2.0F))
                     .attr("transA", 1)
                     .attr("transB", 1)
                     .run_one();
  expect_near(y, {2, 2}, {31.5, 35.5, 57, 63});
}

TEST(Gemm, Integers) {
  const auto y = NodeCase("Gemm", 11)
                     .data(tensor_of(DType::I32, {1, 2}, {3, -4}))
                     .constant(tensor_of(DType::I32, {2, 1}, {5, 6}))
                     .constant(tensor_of(DType::I32, {}, {100}))
                     .run_one();
  expect_near(y, {1, 1}, {91}, 0);
}

}  // namespace
}  // namespace atc::ops
