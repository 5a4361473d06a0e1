#include <cmath>
#include <limits>

#include "ops/node_case.h"
#include "ops/shape_value.h"

namespace atc::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Tensor strings(std::vector<std::string> values) {
  Tensor t;
  t.dtype = DType::String;
  t.shape = {static_cast<std::int64_t>(values.size())};
  t.strings = std::move(values);
  return t;
}

Tensor cast(const Tensor& x, DType to) {
  NodeCase c("Cast", 13);
  c.data(x).attr("to", static_cast<int>(to));
  return c.run_one();
}

TEST(Cast, InfersTargetType) {
  EXPECT_EQ(NodeCase("Cast", 13).typed(DType::F32, Dims{2, 3}).attr("to", 7).inferred(), "i64[2,3]");
  EXPECT_EQ(NodeCase("Cast", 1).typed(DType::F32, Dims{2}).attr("to", "FLOAT16").inferred(), "f16[2]");
  EXPECT_THAT(NodeCase("Cast", 13).typed(DType::F32, Dims{2}).attr("to", 99).inferred(),
              HasSubstr("attribute to is 99, which is not a type"));
  EXPECT_THAT(NodeCase("Cast", 1).typed(DType::F32, Dims{2}).attr("to", "REAL").inferred(),
              HasSubstr("attribute to is 'REAL'"));
  EXPECT_THAT(NodeCase("Cast", 13).typed(DType::F32, Dims{2}).inferred(),
              HasSubstr("attribute to is missing"));
  EXPECT_THAT(NodeCase("Cast", 13).typed(DType::F32, Dims{2}).attr("to", 1).attr("saturate", 0).inferred(),
              HasSubstr("attribute saturate does not exist in opset 13"));
}

TEST(Cast, KeepsShapeValues) {
  EXPECT_EQ(
      NodeCase("Cast", 13).shape_value({literal(2), ir::Dim::named("n")}).attr("to", 6).inferred_elements(),
      "2,n");
  EXPECT_EQ(NodeCase("Cast", 13).shape_value({literal(2)}).attr("to", 1).inferred_elements(), "(none)");
}

TEST(Cast, FloatsTruncateIntegersWrap) {
  EXPECT_THAT(to_int64s(cast(f32({5}, {1.9, -1.9, 0.5, 300, -1}), DType::I32)),
              ElementsAre(1, -1, 0, 300, -1));
  EXPECT_THAT(to_int64s(cast(f32({2}, {300, -1}), DType::U8)), ElementsAre(44, 255));
  EXPECT_THAT(to_int64s(cast(i64({3}, {-1, 256, 127}), DType::I8)), ElementsAre(-1, 0, 127));
  EXPECT_EQ(cast(i64({1}, {-1}), DType::U64).as<std::uint64_t>()[0], UINT64_MAX);
  EXPECT_EQ(cast(cast(i64({1}, {-1}), DType::U64), DType::F64).as<double>()[0], 18446744073709551616.0);
}

TEST(Cast, IntegersToFloatRoundOnce) {
  // 2^24 + 1 + 2^-30-ish: through double and again to float would round to even twice.
  const std::int64_t just_above_tie = (std::int64_t{1} << 60) + (std::int64_t{1} << 36) + 1;
  EXPECT_EQ(cast(i64({1}, {just_above_tie}), DType::F32).as<float>()[0], static_cast<float>(just_above_tie));
}

TEST(Cast, Booleans) {
  EXPECT_THAT(to_int64s(cast(f32({4}, {0, -0.0, 0.1, kNaN}), DType::Bool)), ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(to_doubles(cast(tensor_of(DType::Bool, {2}, {0, 1}), DType::F16)), ElementsAre(0, 1));
}

TEST(Cast, Strings) {
  EXPECT_THAT(cast(f32({4}, {0.47892547, kNaN, -kInf, 1e-7}), DType::String).strings,
              ElementsAre("0.47892547", "NaN", "-INF", "1e-07"));
  EXPECT_THAT(to_doubles(cast(strings({"0.5", "+3", "-INF", "1e-2", "nan"}), DType::F64)),
              ElementsAre(0.5, 3, -kInf, 0.01, ::testing::IsNan()));
  EXPECT_THAT(to_int64s(cast(strings({"42", "-7"}), DType::I16)), ElementsAre(42, -7));
  NodeCase bad("Cast", 13);
  bad.attr("to", 1);
  const Tensor text = strings({"one"});
  EvalContext ctx(bad.node(), {&text});
  EXPECT_THAT(Registry::instance().find("", "Cast", 13)->reference(ctx).to_string(),
              HasSubstr("'one' is not a number"));
}

TEST(Cast, EightBitFloatsSaturateUnlessToldNot) {
  NodeCase saturating("Cast", 19);
  saturating.data(f32({2}, {1000, -kInf})).attr("to", static_cast<int>(DType::F8E4M3FN));
  EXPECT_THAT(to_doubles(saturating.run_one()), ElementsAre(448, -448));
  NodeCase special("Cast", 19);
  special.data(f32({1}, {1000})).attr("to", static_cast<int>(DType::F8E4M3FN)).attr("saturate", 0);
  EXPECT_TRUE(std::isnan(to_doubles(special.run_one())[0]));
}

TEST(Cast, InfinitiesOfTheUnsignedZeroTypesSaturateSinceOpset24) {
  auto run = [](int version) {
    NodeCase c("Cast", version);
    c.data(f32({2}, {kInf, -1e9})).attr("to", static_cast<int>(DType::F8E4M3FNUZ));
    return to_doubles(c.run_one());
  };
  EXPECT_THAT(run(24), ElementsAre(240, -240));
  EXPECT_THAT(run(23), ElementsAre(::testing::IsNan(), -240));
}

TEST(CastLike, TakesTheTypeOfTheSecondInput) {
  NodeCase c("CastLike", 15);
  c.data(f32({2}, {1.5, 2})).data(tensor_of(DType::I8, {0}, {}));
  EXPECT_EQ(c.inferred(), "i8[2]");
  EXPECT_THAT(to_int64s(c.run_one()), ElementsAre(1, 2));
}

TEST(BitCast, KeepsBits) {
  NodeCase c("BitCast", 26);
  c.data(f32({1}, {1})).attr("to", static_cast<int>(DType::I32));
  EXPECT_EQ(c.run_one().as<std::int32_t>()[0], 0x3F800000);
  EXPECT_THAT(NodeCase("BitCast", 26).typed(DType::F32, Dims{1}).attr("to", 7).inferred(),
              HasSubstr("has elements of 32 bits, type i64 needs 64"));
}

}  // namespace
}  // namespace atc::ops
