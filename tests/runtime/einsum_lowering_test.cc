// Einsum on the AI Core: products on the cube, sums and elementwise products as vector programs.
#include "runtime/one_node.h"

namespace atc::runtime {
namespace {

constexpr double kTolerance = 2e-5;

void expect_einsum(const char* equation, const std::vector<Dims>& operands, double tolerance = kTolerance,
                   DType dtype = DType::F32) {
  SCOPED_TRACE(equation);
  OneNode n("Einsum", 12);
  unsigned seed = 1;
  for (const Dims& dims : operands) n.input(random_values(dtype, dims, seed++));
  n.attr("equation", equation).expect_on_ai_core(tolerance);
}

TEST(LowerEinsum, MatrixProducts) {
  expect_einsum("ij,jk->ik", {{5, 7}, {7, 3}});
  expect_einsum("ij,kj->ki", {{5, 7}, {3, 7}});
  expect_einsum("bij,bjk->bik", {{2, 5, 7}, {2, 7, 3}});
  expect_einsum("...ij,...jk", {{2, 3, 5, 7}, {2, 3, 7, 4}});
  expect_einsum("ij,j->i", {{5, 7}, {7}});
}

TEST(LowerEinsum, AttentionInItsUsualForms) {
  expect_einsum("bhqd,bhkd->bhqk", {{2, 3, 5, 8}, {2, 3, 6, 8}});
  expect_einsum("bqhd,bkhd->bhqk", {{2, 5, 3, 8}, {2, 6, 3, 8}});
  expect_einsum("bhqk,bkhd->bqhd", {{2, 3, 5, 6}, {2, 6, 3, 8}});
  expect_einsum("bsd,dnh->bsnh", {{2, 5, 8}, {8, 3, 4}});
  expect_einsum("bsnh,nhd->bsd", {{2, 5, 3, 4}, {3, 4, 8}});
}

TEST(LowerEinsum, BroadcastAxes) {
  expect_einsum("...ij,...jk->...ik", {{2, 1, 5, 7}, {3, 7, 4}});
  expect_einsum("bij,bjk->bik", {{1, 5, 7}, {3, 7, 4}});
  expect_einsum("ij,ij->i", {{5, 1}, {5, 6}});
}

TEST(LowerEinsum, SumsOuterProductsAndPermutations) {
  expect_einsum("ij->i", {{5, 7}});
  expect_einsum("ijk->j", {{5, 7, 3}});
  expect_einsum("ijk->", {{5, 7, 3}});
  expect_einsum("ijk->kij", {{5, 7, 3}}, 0);
  expect_einsum("i,j->ij", {{5}, {7}});
  expect_einsum("i,i->", {{70}, {70}});
  expect_einsum("bc,bc->b", {{5, 7}, {5, 7}});
  expect_einsum("ij,kl->jk", {{5, 7}, {3, 4}});
}

TEST(LowerEinsum, Diagonals) {
  expect_einsum("...ii->...i", {{3, 5, 5}}, 0);
  expect_einsum("ii", {{6, 6}});
  expect_einsum("iji->j", {{4, 3, 4}});
  expect_einsum("iii->i", {{4, 4, 4}}, 0);
  expect_einsum("ii,ij->j", {{4, 4}, {4, 3}});
}

TEST(LowerEinsum, ChainsAndScalars) {
  expect_einsum("ab,bc,cd->ad", {{2, 3}, {3, 4}, {4, 5}}, 5e-5);
  expect_einsum("ab,ab,ab->a", {{2, 3}, {2, 3}, {2, 3}}, 5e-5);
  expect_einsum("->", {{}}, 0);
  expect_einsum(",ij->ij", {{}, {2, 3}});
}

TEST(LowerEinsum, HalfPrecision) {
  expect_einsum("bqhd,bkhd->bhqk", {{1, 5, 2, 16}, {1, 6, 2, 16}}, 4e-3, DType::F16);
}

TEST(LowerEinsum, IntegersStayOnTheAiCpu) {
  OneNode("Einsum", 12)
      .input(random_integers(DType::I32, {3, 4}, -5, 5, 1))
      .input(random_integers(DType::I32, {4, 2}, -5, 5, 2))
      .attr("equation", "ij,jk->ik")
      .expect_on_ai_cpu();
}

}  // namespace
}  // namespace atc::runtime
