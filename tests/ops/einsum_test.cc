#include "ops/einsum.h"

#include "ops/node_case.h"

namespace atc::ops {
namespace {

using ::testing::HasSubstr;

std::string shape_of(const char* equation, const std::vector<Dims>& operands) {
  NodeCase c("Einsum", 12);
  for (const Dims& dims : operands) c.typed(DType::F32, dims);
  return c.attr("equation", equation).inferred();
}

Tensor einsum(const char* equation, const std::vector<Tensor>& operands) {
  NodeCase c("Einsum", 12);
  for (const Tensor& t : operands) c.data(t);
  return c.attr("equation", equation).run_one();
}

TEST(Einsum, InfersShape) {
  EXPECT_EQ(shape_of("bij,bjk->bik", {{2, 3, 4}, {2, 4, 5}}), "f32[2,3,5]");
  EXPECT_EQ(shape_of("ij , jk", {{3, 4}, {4, 5}}), "f32[3,5]");
  EXPECT_EQ(shape_of("ba", {{3, 4}}), "f32[4,3]");  // implicit: alphabetical
  EXPECT_EQ(shape_of("...ij,...jk->...ik", {{7, 1, 3, 4}, {5, 4, 6}}), "f32[7,5,3,6]");
  EXPECT_EQ(shape_of("i...->...", {{2, 3, 4}}), "f32[3,4]");
  EXPECT_EQ(shape_of("ii->i", {{3, 3}}), "f32[3]");
  EXPECT_EQ(shape_of("i,i", {{3}, {3}}), "f32[]");
  EXPECT_EQ(shape_of("Ab->bA", {{3, 4}}), "f32[4,3]");
}

TEST(Einsum, Refusals) {
  EXPECT_THAT(shape_of("ij,jk->ik", {{3, 4}, {5, 6}}),
              HasSubstr("has size 5 on axis 0, where the equation's label"));
  EXPECT_THAT(shape_of("ij->ik", {{3, 4}}), HasSubstr("output letter 'k' is in no input term"));
  EXPECT_THAT(shape_of("ij,j", {{3, 4}}), HasSubstr("the equation has 2 terms for 1 inputs"));
  EXPECT_THAT(shape_of("ijk", {{3, 4}}), HasSubstr("has rank 2, but its term in the equation has 3 letters"));
  EXPECT_THAT(shape_of("i.j", {{3, 4}}), HasSubstr("is malformed"));
  EXPECT_THAT(shape_of("ij->ii", {{3, 4}}), HasSubstr("is malformed"));
}

TEST(Einsum, MatMulAndItsTranspose) {
  const Tensor a = noise_tensor({2, 3, 4}, 1);
  const Tensor b = noise_tensor({2, 4, 5}, 2);
  const Tensor product = NodeCase("MatMul", 13).data(a).data(b).run_one();
  expect_near(einsum("bij,bjk->bik", {a, b}), {2, 3, 5}, to_doubles(product));
}

TEST(Einsum, DiagonalsTracesAndSums) {
  const Tensor a = f32({2, 2}, {1, 2, 3, 4});
  expect_near(einsum("ii->i", {a}), {2}, {1, 4});
  expect_near(einsum("ii", {a}), {}, {5});
  expect_near(einsum("ij->j", {a}), {2}, {4, 6});
  expect_near(einsum("ij->ji", {a}), {2, 2}, {1, 3, 2, 4});
}

TEST(Einsum, ThreeOperands) {
  const Tensor a = noise_tensor({2, 3}, 3);
  const Tensor b = noise_tensor({3, 4}, 4);
  const Tensor c = noise_tensor({4, 2}, 5);
  const Tensor ab = NodeCase("MatMul", 13).data(a).data(b).run_one();
  const Tensor abc = NodeCase("MatMul", 13).data(ab).data(c).run_one();
  expect_near(einsum("ij,jk,kl->il", {a, b, c}), {2, 2}, to_doubles(abc), 1e-4);
}

TEST(Einsum, BroadcastsTheEllipsis) {
  expect_near(einsum("...i,i->...", {f32({2, 1, 2}, {1, 2, 3, 4}), f32({2}, {10, 1})}), {2, 1}, {12, 34});
  expect_near(einsum("i...,i...->i...", {f32({1, 2}, {3, 4}), f32({1, 1}, {2})}), {1, 2}, {6, 8});
}

TEST(Einsum, IntegersAreExact) {
  const std::int64_t big = (std::int64_t{1} << 60) + 1;
  EXPECT_EQ(to_int64s(einsum("i,i->", {i64({2}, {big, 1}), i64({2}, {1, 2})})),
            std::vector<std::int64_t>{big + 2});
}

}  // namespace
}  // namespace atc::ops
