// 64-bit integers through compiled models: exact beyond what 32 bits, and doubles, hold.
#include <limits>

#include "runtime/one_node.h"

namespace atc::runtime {
namespace {

constexpr std::int64_t kBig = (std::int64_t{1} << 53) + 1;  // no double

Tensor ints(Dims shape, std::vector<std::int64_t> v) { return from_int64s(DType::I64, std::move(shape), v); }

Tensor left() {
  return ints({6}, {kBig, -kBig, std::int64_t{1} << 31, (std::int64_t{1} << 32) + 7,
                    std::numeric_limits<std::int64_t>::max(), -5});
}
Tensor right() { return ints({6}, {2, 3, std::int64_t{1} << 31, -(std::int64_t{1} << 32), -1, kBig}); }

TEST(Int64, ArithmeticAndComparisons) {
  for (const char* op : {"Add", "Sub", "Mul", "Div", "Mod", "Equal", "Less", "GreaterOrEqual"}) {
    SCOPED_TRACE(op);
    OneNode(op, 16).input(left()).input(right()).expect_on_ai_core();
    OneNode(op, 16).input(left()).constant(ints({}, {kBig})).expect_on_ai_core();
    OneNode(op, 16).input(left()).constant(ints({}, {(std::int64_t{1} << 32) + 7})).expect_on_ai_core();
  }
}

// Expected values by hand: the operators' references are not asked.
TEST(Int64, ConstantsBeyond53BitsAreExact) {
  OneNode n("Add", 14);
  n.input(ints({2}, {1, -kBig})).constant(ints({}, {kBig}));
  const auto run = n.compiled("Ascend910B3");
  ASSERT_TRUE(run.ok()) << run.status().to_string();
  EXPECT_TRUE(run->on_ai_cpu.empty());
  EXPECT_EQ(to_int64s(run->outputs[0]), (std::vector<std::int64_t>{kBig + 1, 0}));
}

TEST(Int64, Reductions) {
  for (const char* op : {"ReduceSum", "ReduceMax", "ReduceMin"})
    OneNode(op, 18).input(left()).constant(ints({1}, {0})).attr("keepdims", 1).expect_on_ai_core();
}

TEST(Int64, Moves) {
  OneNode("Where", 16)
      .input(from_int64s(DType::Bool, {6}, std::vector<std::int64_t>{1, 0, 1, 0, 1, 0}))
      .input(left())
      .input(right())
      .expect_on_ai_core();
  OneNode("Gather", 13).input(left()).input(ints({3}, {-1, 4, 0})).expect_on_ai_core();
  OneNode("Neg", 13).input(left()).expect_on_ai_core();
  OneNode("Abs", 13).input(left()).expect_on_ai_core();
}

// To 32 bits the low ones stay, as C++ has it.
TEST(Int64, CastsKeepTheLowBits) {
  OneNode("Cast", 13).input(left()).attr("to", static_cast<std::int64_t>(DType::I32)).expect_on_ai_core();
  OneNode("Cast", 13)
      .input(from_int64s(DType::I32, {2},
                         std::vector<std::int64_t>{-1, std::numeric_limits<std::int32_t>::min()}))
      .attr("to", static_cast<std::int64_t>(DType::I64))
      .expect_on_ai_core();
}

}  // namespace
}  // namespace atc::runtime
