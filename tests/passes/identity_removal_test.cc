#include "passes/identity_removal.h"

#include "pass_testing.h"

namespace atc::passes {
namespace {

/// `statement` defines %1 from %0 (and constants %5...); a Relu reads %1.
struct Case {
  const char* name;
  const char* input;      ///< type of %0
  const char* constants;  ///< statements
  const char* statement;
  bool removed;
};

std::string before(const Case& c) {
  return air("%0 \"x\": " + std::string(c.input), "%2",
             std::string(c.constants) + c.statement + "  %2 \"y\" = Relu@14(%1) : " + c.input + "\n");
}

class IdentityRemoval : public testing::TestWithParam<Case> {};

TEST_P(IdentityRemoval, RemovesOnlyWhatIsExact) {
  const Case& c = GetParam();
  if (c.removed)
    expect_rewrite(identity_removal_pass(), before(c),
                   air("%0 \"x\": " + std::string(c.input), "%2",
                       "  %2 \"y\" = Relu@14(%0) : " + std::string(c.input) + "\n"));
  else
    expect_unchanged(identity_removal_pass(), before(c));
}

constexpr const char* kF = "f32[2,3]";
INSTANTIATE_TEST_SUITE_P(
    Rules, IdentityRemoval,
    testing::Values(
        Case{"identity", kF, "", "  %1 = Identity@14(%0) : f32[2,3]\n", true},
        Case{"dropout7", kF, "", "  %1, _ = Dropout@7(%0) {ratio=0.5} : f32[2,3], _\n", true},
        Case{"dropout12", kF, "  %5 = const f32[] {0.5}\n  %6 = const bool[] {0}\n",
             "  %1 = Dropout@12(%0, %5, %6) : f32[2,3]\n", true},
        Case{"dropout_nothing", kF, "  %5 = const f32[] {0}\n  %6 = const bool[] {1}\n",
             "  %1 = Dropout@12(%0, %5, %6) : f32[2,3]\n", true},
        Case{"dropout_training", kF, "  %5 = const f32[] {0.5}\n  %6 = const bool[] {1}\n",
             "  %1 = Dropout@12(%0, %5, %6) : f32[2,3]\n", false},
        Case{"cast_same", kF, "", "  %1 = Cast@13(%0) {to=1} : f32[2,3]\n", true},
        Case{"cast_other", kF, "", "  %1 = Cast@13(%0) {to=10} : f16[2,3]\n", false},
        Case{"reshape_same", kF, "  %5 = const i64[2] {2,3}\n", "  %1 = Reshape@13(%0, %5) : f32[2,3]\n",
             true},
        Case{"reshape_other", kF, "  %5 = const i64[2] {3,2}\n", "  %1 = Reshape@13(%0, %5) : f32[3,2]\n",
             false},
        Case{"reshape_open", "f32[n,3]", "  %5 = const i64[2] {-1,3}\n",
             "  %1 = Reshape@13(%0, %5) : f32[n,3]\n", false},
        Case{"expand_same", kF, "  %5 = const i64[1] {1}\n", "  %1 = Expand@13(%0, %5) : f32[2,3]\n", true},
        Case{"transpose_same", kF, "", "  %1 = Transpose@13(%0) {perm=[0,1]} : f32[2,3]\n", true},
        Case{"transpose_reversed", "f32[3,3]", "", "  %1 = Transpose@13(%0) : f32[3,3]\n", false},
        Case{"transpose_swapped", "f32[3,3]", "", "  %1 = Transpose@13(%0) {perm=[1,0]} : f32[3,3]\n", false},
        Case{"pad_nothing", kF, "  %5 = const i64[4] splat 0\n", "  %1 = Pad@13(%0, %5) : f32[2,3]\n", true},
        Case{"pad_shift", kF, "  %5 = const i64[4] {1,0,-1,0}\n", "  %1 = Pad@13(%0, %5) : f32[2,3]\n",
             false},
        Case{"pad_attribute", kF, "", "  %1 = Pad@2(%0) {pads=[0,0,0,0]} : f32[2,3]\n", true},
        Case{"slice_all", kF, "  %5 = const i64[1] {0}\n  %6 = const i64[1] {99}\n",
             "  %1 = Slice@13(%0, %5, %6) : f32[2,3]\n", true},
        Case{"slice_reversed", kF,
             "  %5 = const i64[1] {-1}\n  %6 = const i64[1] {-99}\n  %7 = const i64[1] {0}\n",
             "  %1 = Slice@13(%0, %5, %6, %7, %5) : f32[2,3]\n", false},
        Case{"resize_same", "f32[1,1,2,3]", "  %5 = const f32[4] splat 1.0\n",
             "  %1 = Resize@13(%0, _, %5) {mode=\"linear\"} : f32[1,1,2,3]\n", true},
        Case{"resize_other_pixels", "f32[1,1,2,3]", "  %5 = const f32[4] splat 1.0\n",
             "  %1 = Resize@13(%0, _, %5) {coordinate_transformation_mode=\"tf_half_pixel_for_nn\"} : "
             "f32[1,1,2,3]\n",
             false},
        Case{"concat_one", kF, "", "  %1 = Concat@13(%0) {axis=0} : f32[2,3]\n", true},
        Case{"concat_two", kF, "", "  %1 = Concat@13(%0, %0) {axis=0} : f32[4,3]\n", false},
        Case{"clip_open", kF, "", "  %1 = Clip@13(%0) : f32[2,3]\n", true},
        Case{"clip_old", kF, "", "  %1 = Clip@6(%0) {max=6.0} : f32[2,3]\n", false},
        Case{"add_zero", kF, "  %5 = const f32[] {0.0}\n", "  %1 = Add@14(%0, %5) : f32[2,3]\n", false},
        Case{"add_minus_zero", kF, "  %5 = const f32[] {-0.0}\n", "  %1 = Add@14(%5, %0) : f32[2,3]\n", true},
        Case{"add_integer_zero", "i64[2,3]", "  %5 = const i64[3] splat 0\n",
             "  %1 = Add@14(%0, %5) : i64[2,3]\n", true},
        Case{"sub_zero", kF, "  %5 = const f32[] {0.0}\n", "  %1 = Sub@14(%0, %5) : f32[2,3]\n", true},
        Case{"zero_sub", kF, "  %5 = const f32[] {0.0}\n", "  %1 = Sub@14(%5, %0) : f32[2,3]\n", false},
        Case{"mul_one", kF, "  %5 = const f32[1] {1.0}\n", "  %1 = Mul@14(%0, %5) : f32[2,3]\n", true},
        Case{"mul_one_broadcast", kF, "  %5 = const f32[4,1,1] splat 1.0\n",
             "  %1 = Mul@14(%0, %5) : f32[4,2,3]\n", false},
        Case{"mul_two", kF, "  %5 = const f32[] {2.0}\n", "  %1 = Mul@14(%0, %5) : f32[2,3]\n", false},
        Case{"div_one", kF, "  %5 = const f32[] {1.0}\n", "  %1 = Div@14(%0, %5) : f32[2,3]\n", true},
        Case{"one_div", kF, "  %5 = const f32[] {1.0}\n", "  %1 = Div@14(%5, %0) : f32[2,3]\n", false},
        Case{"and_true", "bool[2]", "  %5 = const bool[] {1}\n", "  %1 = And@7(%0, %5) : bool[2]\n", true},
        Case{"or_true", "bool[2]", "  %5 = const bool[] {1}\n", "  %1 = Or@7(%0, %5) : bool[2]\n", false},
        Case{"other_format", "f32[1,2,3]", "", "  %1 = Identity@14(%0) : f32[1,2,3] NC1HWC0\n", false}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST(IdentityRemovalNames, TheOutputKeepsItsName) {
  expect_rewrite(
      identity_removal_pass(),
      air("%0 \"x\": f32[2]", "%2",
          "  %1 \"t\" = Relu@14(%0) : f32[2] name \"r\" from \"r\"\n"
          "  %2 \"y\" = Identity@14(%1) : f32[2] name \"i\" from \"i\"\n"),
      air("%0 \"x\": f32[2]", "%1", "  %1 \"y\" = Relu@14(%0) : f32[2] name \"r\" from \"r\", \"i\"\n"));
}

TEST(IdentityRemovalNames, AnInputReturnedAsOutputStays) {
  expect_unchanged(identity_removal_pass(),
                   air("%0 \"x\": f32[2]", "%1", "  %1 \"y\" = Identity@14(%0) : f32[2]\n"));
}

TEST(IdentityRemovalNames, OneValueUnderTwoNamesStays) {
  expect_unchanged(identity_removal_pass(), air("%0 \"x\": f32[2]", "%1, %2",
                                                "  %1 \"y\" = Relu@14(%0) : f32[2]\n"
                                                "  %2 \"z\" = Identity@14(%1) : f32[2]\n"));
}

TEST(IdentityRemovalNames, MaskOfDropoutInUse) {
  expect_unchanged(identity_removal_pass(), air("%0 \"x\": f32[2]", "%1, %2",
                                                "  %1 \"y\", %2 \"m\" = Dropout@12(%0) : f32[2], bool[2]\n"));
}

}  // namespace
}  // namespace atc::passes
