// Casts of Casts, sums and products with zeros, Softmax of a shift, constants behind convolutions.
#include "passes/cast_algebra.h"
#include "passes/common_subexpression.h"
#include "passes/conv_affine.h"
#include "passes/softmax_shift.h"
#include "passes/zero_terms.h"
#include "simplify_testing.h"

namespace atc::passes {
namespace {

struct CastCase {
  const char *from, *between, *to;
  int between_id, to_id;
  const char* left;  ///< null: unchanged
};

class CastAlgebra : public testing::TestWithParam<CastCase> {};

TEST_P(CastAlgebra, DropsWhatLosesNothing) {
  const CastCase& c = GetParam();
  const std::string text =
      air("%0 \"x\": " + std::string(c.from) + "[3]", "%3",
          "  %1 = Cast@13(%0) {to=" + std::to_string(c.between_id) + "} : " + c.between + "[3]\n" +
              "  %2 = Cast@13(%1) {to=" + std::to_string(c.to_id) + "} : " + c.to + "[3]\n" +
              "  %3 \"y\" = Reshape@13(%2, %4) : " + c.to + "[3]\n");
  const std::string with_shape =
      text.substr(0, text.find("  %1 =")) + "  %4 = const i64[1] {3}\n" + text.substr(text.find("  %1 ="));
  if (c.left != nullptr)
    EXPECT_EQ(simplified(cast_algebra_pass(), with_shape), c.left);
  else
    expect_kept(cast_algebra_pass(), with_shape);
}

INSTANTIATE_TEST_SUITE_P(
    Types, CastAlgebra,
    testing::Values(
        CastCase{"f16", "f32", "f16", 1, 10, "Reshape"}, CastCase{"f16", "f32", "i32", 1, 6, "Cast Reshape"},
        CastCase{"i32", "i64", "i32", 7, 6, "Reshape"}, CastCase{"u8", "f16", "f32", 10, 1, "Cast Reshape"},
        CastCase{"bool", "i64", "bool", 7, 9, "Reshape"}, CastCase{"f32", "f16", "f32", 10, 1, nullptr},
        CastCase{"i64", "i32", "i64", 6, 7, nullptr}, CastCase{"i32", "f32", "i32", 1, 6, nullptr},
        CastCase{"u16", "f16", "f32", 10, 1, nullptr}, CastCase{"i32", "bool", "i32", 9, 6, nullptr},
        CastCase{"i32", "u64", "i32", 13, 6, nullptr}),
    [](const auto& tested) {
      return std::string(tested.param.from) + "_" + tested.param.between + "_" + tested.param.to;
    });

TEST(SoftmaxShift, TheMaximumIsTakenByTheKernel) {
  const std::string rows =
      "  %2 = Sub@14(%0, %1) : f32[2,3,4]\n  %3 \"y\" = Softmax@13(%2) {axis=-1} : f32[2,3,4]\n";
  EXPECT_EQ(simplified(softmax_shift_pass(),
                       air("%0 \"x\": f32[2,3,4]", "%3",
                           "  %1 = ReduceMax@13(%0) {axes=[2], keepdims=1} : f32[2,3,1]\n" + rows),
                       1e-6),
            "Softmax");
  // Without keepdims, put back by a Reshape; LogSoftmax.
  EXPECT_EQ(simplified(softmax_shift_pass(),
                       air("%0 \"x\": f32[2,3,4]", "%3",
                           "  %4 = const i64[1] {1}\n"
                           "  %5 = ReduceMax@13(%0) {axes=[1], keepdims=0} : f32[2,4]\n"
                           "  %1 = Unsqueeze@13(%5, %4) : f32[2,1,4]\n  %2 = Sub@14(%0, %1) : f32[2,3,4]\n"
                           "  %3 \"y\" = LogSoftmax@13(%2) {axis=1} : f32[2,3,4]\n"),
                       1e-6),
            "LogSoftmax");
}

TEST(SoftmaxShift, OtherShiftsStay) {
  const std::string rows =
      "  %2 = Sub@14(%0, %1) : f32[2,3,4]\n  %3 \"y\" = Softmax@13(%2) {axis=-1} : f32[2,3,4]\n";
  // Along another axis, of the mean, of another value.
  expect_kept(softmax_shift_pass(),
              air("%0 \"x\": f32[2,3,4]", "%3",
                  "  %1 = ReduceMax@13(%0) {axes=[1], keepdims=1} : f32[2,1,4]\n" + rows));
  expect_kept(softmax_shift_pass(),
              air("%0 \"x\": f32[2,3,4]", "%3",
                  "  %1 = ReduceMean@13(%0) {axes=[2], keepdims=1} : f32[2,3,1]\n" + rows));
  expect_kept(softmax_shift_pass(),
              air("%0 \"x\": f32[2,3,4], %4 \"z\": f32[2,3,4]", "%3",
                  "  %1 = ReduceMax@13(%4) {axes=[2], keepdims=1} : f32[2,3,1]\n" + rows));
}

TEST(ZeroTerms, SumsAndProducts) {
  // -0 + 0 is 0: equal, not the same bits.
  EXPECT_EQ(simplified(zero_terms_pass(),
                       air("%0 \"x\": f32[2,3]", "%3",
                           "  %1 = const f32[3] splat 0.0\n  %2 = Add@14(%1, %0) : f32[2,3]\n"
                           "  %3 \"y\" = Relu@14(%2) : f32[2,3]\n"),
                       1e-9),
            "Relu");
  // Integers are finite, and so is what Tanh makes of them.
  EXPECT_EQ(simplified(zero_terms_pass(),
                       air("%0 \"x\": i32[1,2,4]", "%5",
                           "  %1 = const f32[3,2,1] splat -0.0\n  %2 = const f32[3] {1.0,2.0,3.0}\n"
                           "  %3 = Cast@13(%0) {to=1} : f32[1,2,4]\n  %4 = Tanh@13(%3) : f32[1,2,4]\n"
                           "  %5 \"y\" = Conv@11(%4, %1, %2) : f32[1,3,4]\n"),
                       1e-9),
            "Reshape Expand");
  // Rows of a table of finite numbers.
  EXPECT_EQ(simplified(zero_terms_pass(),
                       air("%0 \"x\": i64[2]", "%4",
                           "  %1 = const f32[3,2] splat 0.0\n  %2 = const f32[9,3] splat 2.0\n"
                           "  %3 = Gather@13(%2, %0) : f32[2,3]\n"
                           "  %4 \"y\" = MatMul@13(%3, %1) : f32[2,2]\n"),
                       1e-9),
            "Expand");
}

// Zero times infinity is no number: it must not become zero.
TEST(ZeroTerms, ProductsThatMayBeNoNumberStay) {
  const std::string zeros = "  %1 = const f32[3,2] splat 0.0\n";
  expect_kept(zero_terms_pass(),
              air("%0 \"x\": f32[2,3]", "%4", zeros + "  %4 \"y\" = MatMul@13(%0, %1) : f32[2,2]\n"));
  // A bound keeps infinities out, but no NaN.
  expect_kept(zero_terms_pass(),
              air("%0 \"x\": f32[2,3]", "%4",
                  zeros + "  %2 = Sigmoid@13(%0) : f32[2,3]\n  %4 \"y\" = MatMul@13(%2, %1) : f32[2,2]\n"));
  // Integers may leave the range of fp16; their squares and exponentials are not looked through.
  expect_kept(zero_terms_pass(),
              air("%0 \"x\": i32[2,3]", "%4",
                  "  %1 = const f16[3,2] splat 0.0\n  %2 = Cast@13(%0) {to=10} : f16[2,3]\n"
                  "  %4 \"y\" = MatMul@13(%2, %1) : f16[2,2]\n"));
  expect_kept(zero_terms_pass(),
              air("%0 \"x\": i32[2,3]", "%4",
                  zeros + "  %2 = Cast@13(%0) {to=1} : f32[2,3]\n  %3 = Exp@13(%2) : f32[2,3]\n"
                          "  %4 \"y\" = MatMul@13(%3, %1) : f32[2,2]\n"));
  expect_kept(zero_terms_pass(),
              air("%0 \"x\": i64[2]", "%4",
                  zeros + "  %2 = const f32[1,3] {1.0,inf,1.0}\n  %3 = Gather@13(%2, %0) : f32[2,3]\n"
                          "  %4 \"y\" = MatMul@13(%3, %1) : f32[2,2]\n"));
}

TEST(ZeroTerms, OthersStay) {
  expect_kept(zero_terms_pass(), air("%0 \"x\": f32[1,3]", "%2",
                                     "  %1 = const f32[2,1] splat 0.0\n"
                                     "  %2 \"y\" = Add@14(%1, %0) : f32[2,3]\n"));
  expect_kept(zero_terms_pass(), air("%0 \"x\": f32[2,3]", "%2",
                                     "  %1 = const f32[3] {0.0,0.0,1e-40}\n"
                                     "  %2 \"y\" = Add@14(%1, %0) : f32[2,3]\n"));
  // x may be infinite there: nothing but a product with weights is taken for finite.
  expect_kept(zero_terms_pass(), air("%0 \"x\": f32[2,3]", "%2",
                                     "  %1 = const f32[3] splat 0.0\n"
                                     "  %2 \"y\" = Mul@14(%0, %1) : f32[2,3]\n"));
}

TEST(ZeroTerms, StatesOfZeros) {
  const std::string weights =
      "  %1 = const f32[1,4,3] splat 0.5\n  %2 = const f32[1,4,1] splat 0.25\n"
      "  %3 = const f32[1,2,1] splat 0.0\n  %4 = const f32[1,2,1] splat 1.0\n";
  const std::string text = air("%0 \"x\": f32[5,2,3]", "%6",
                               weights +
                                   "  %6 \"y\" = LSTM@14(%0, %1, %2, _, _, %3, %4) {hidden_size=1} : "
                                   "f32[5,1,2,1]\n");
  EXPECT_EQ(simplified(zero_terms_pass(), text), "LSTM");
  EXPECT_THAT(run_pass(zero_terms_pass(), text), testing::HasSubstr("LSTM@14(%0, %1, %2, _, _, _, %4)"));
}

TEST(ConvAffine, ConstantsByChannelAreFolded) {
  const std::string conv =
      "  %1 = const f32[3,2,2] {1.0,2.0,3.0,4.0,5.0,6.0,7.0,8.0,9.0,1.0,2.0,3.0}\n"
      "  %2 = const f32[3] {0.5,0.25,1.0}\n  %3 = const f32[3,1] {2.0,4.0,-1.0}\n"
      "  %4 = Conv@11(%0, %1, %2) : f32[1,3,3]\n";
  for (const char* op : {"Add@14(%4, %3)", "Add@14(%3, %4)", "Sub@14(%4, %3)", "Sub@14(%3, %4)",
                         "Mul@14(%3, %4)", "Div@14(%4, %3)"})
    EXPECT_EQ(
        simplified(conv_affine_pass(),
                   air("%0 \"x\": f32[1,2,4]", "%6",
                       conv + "  %5 = " + op + " : f32[1,3,3]\n  %6 \"y\" = Relu@14(%5) : f32[1,3,3]\n"),
                   1e-6),
        "Conv Relu")
        << op;
  expect_kept(conv_affine_pass(),
              air("%0 \"x\": f32[1,2,4]", "%5", conv + "  %5 \"y\" = Div@14(%3, %4) : f32[1,3,3]\n"));
}

TEST(ConvAffine, TransposedGroups) {
  EXPECT_EQ(simplified(conv_affine_pass(),
                       air("%0 \"x\": f32[1,4,3]", "%4",
                           "  %1 = const f32[4,2,1] {1.0,2.0,3.0,4.0,5.0,6.0,7.0,8.0}\n"
                           "  %2 = const f32[1,4,1] {1.0,2.0,3.0,4.0}\n"
                           "  %3 = ConvTranspose@11(%0, %1) {group=2} : f32[1,4,3]\n"
                           "  %4 \"y\" = Mul@14(%3, %2) : f32[1,4,3]\n"),
                       1e-6),
            "ConvTranspose");
}

TEST(ConvAffine, OtherOperandsStay) {
  const std::string conv = "  %1 = const f32[3,2,2] splat 1.0\n  %2 = Conv@11(%0, %1) : f32[1,3,3]\n";
  // Along the width; computed; more than the convolution gives.
  expect_kept(conv_affine_pass(), air("%0 \"x\": f32[1,2,4]", "%4",
                                      "  %1 = const f32[3,2,2] splat 1.0\n"
                                      "  %3 = const f32[3] {1.0,2.0,3.0}\n"
                                      "  %2 = Conv@11(%0, %1) : f32[1,3,3]\n"
                                      "  %4 \"y\" = Add@14(%2, %3) : f32[1,3,3]\n"));
  expect_kept(conv_affine_pass(), air("%0 \"x\": f32[1,2,4], %3 \"c\": f32[3,1]", "%4",
                                      conv + "  %4 \"y\" = Add@14(%2, %3) : f32[1,3,3]\n"));
  // Read by another too; weights shared.
  expect_kept(conv_affine_pass(), air("%0 \"x\": f32[1,2,4]", "%4, %2",
                                      "  %1 = const f32[3,2,2] splat 1.0\n  %3 = const f32[] {2.0}\n"
                                      "  %2 = Conv@11(%0, %1) : f32[1,3,3]\n"
                                      "  %4 \"y\" = Mul@14(%2, %3) : f32[1,3,3]\n"));
}

TEST(CommonSubexpression, OperandsInEitherOrder) {
  const std::string sums =
      "  %2 = Add@14(%0, %1) : f32[2]\n  %3 = Add@14(%1, %0) : f32[2]\n"
      "  %4 \"y\" = Mul@14(%2, %3) : f32[2]\n";
  EXPECT_EQ(simplified(common_subexpression_pass(), air("%0 \"a\": f32[2], %1 \"b\": f32[2]", "%4", sums)),
            "Add Mul");
  expect_kept(common_subexpression_pass(),
              air("%0 \"a\": f32[2], %1 \"b\": f32[2]", "%4",
                  "  %2 = Sub@14(%0, %1) : f32[2]\n  %3 = Sub@14(%1, %0) : f32[2]\n"
                  "  %4 \"y\" = Mul@14(%2, %3) : f32[2]\n"));
}

}  // namespace
}  // namespace atc::passes
