#include "passes/copy_fusion.h"

#include <algorithm>
#include <numeric>

#include "passes/copy_pieces.h"
#include "simplify_testing.h"

namespace atc::passes {
namespace {

std::string left(std::string_view inputs, std::string_view outputs, std::string_view body) {
  return simplified(copy_fusion_pass(), air(inputs, outputs, body));
}
void stays(std::string_view inputs, std::string_view outputs, std::string_view body) {
  expect_kept(copy_fusion_pass(), air(inputs, outputs, body));
}

/// Writes chains of copies of one value.
class CopyWriter {
 public:
  explicit CopyWriter(const Dims& dims, DType dtype = DType::F32)
      : graph_("g"), value_(graph_.add_input("x", ir::tensor_type(dtype, dims))) {}

  const Dims dims() const { return value_->type.dims(); }
  ir::Graph& graph() { return graph_; }

  void reshape(const Dims& dims) { value_ = op("Reshape", {value_, list(dims)}, dims); }
  void transpose(const Dims& perm) {
    Dims dims;
    for (std::int64_t p : perm) dims.push_back(value_->type.dims()[static_cast<std::size_t>(p)]);
    value_ = op("Transpose", {value_}, dims);
    value_->producer()->attrs.set("perm", perm);
  }
  ir::Value* slice(std::size_t axis, std::int64_t first, std::int64_t last) {
    Dims dims = value_->type.dims();
    dims[axis] = last - first;
    return op("Slice", {value_, list({first}), list({last}), list({static_cast<std::int64_t>(axis)})}, dims);
  }
  // As torch.roll is exported.
  void roll(std::size_t axis, std::int64_t by) {
    const Dims dims = value_->type.dims();
    ir::Value *head = slice(axis, by, dims[axis]), *tail = slice(axis, 0, by);
    value_ = op("Concat", {head, tail}, dims);
    value_->producer()->attrs.set("axis", static_cast<std::int64_t>(axis));
  }
  void cut(std::size_t axis, std::int64_t first, std::int64_t last) { value_ = slice(axis, first, last); }
  std::string text() {
    value_->set_name("y");
    graph_.add_output(value_);
    return ir::print(graph_);
  }

 private:
  ir::Value* list(const Dims& values) {
    return graph_.add_constant("i", from_int64s(DType::I64, {std::ssize(values)}, values));
  }
  ir::Value* op(const char* type, std::vector<ir::Value*> inputs, const Dims& dims) {
    ir::Node* n = graph_.add_node(type, std::move(inputs), 1, nullptr, {}, 13);
    n->output(0)->type = ir::tensor_type(value_->type.dtype, dims);
    return n->output(0);
  }

  ir::Graph graph_;
  ir::Value* value_;
};

// Windows of 4 x 4 of a plane that is rolled by 2 along both axes, and back: whole windows and their halves.
TEST(CopyFusion, ShiftedWindowsAreOneCopy) {
  CopyWriter w({2, 8, 12, 3});
  w.roll(1, 2);
  w.roll(2, 2);
  w.reshape({2, 2, 4, 3, 4, 3});
  w.transpose({0, 1, 3, 2, 4, 5});
  w.reshape({12, 16, 3});
  EXPECT_EQ(simplified(copy_fusion_pass(), w.text()), "BoxCopy Reshape");
}

TEST(CopyFusion, WindowsAndBackAreOneCopy) {
  CopyWriter w({12, 16, 3}, DType::F16);
  w.reshape({2, 2, 3, 4, 4, 3});
  w.transpose({0, 1, 3, 2, 4, 5});
  w.reshape({2, 8, 12, 3});
  w.roll(1, 6);
  w.roll(2, 10);
  w.cut(1, 0, 7);  // the padding of the last windows
  w.transpose({0, 3, 1, 2});
  EXPECT_EQ(simplified(copy_fusion_pass(), w.text()), "BoxCopy");
}

TEST(CopyFusion, SplitsAndReshapesInBetween) {
  EXPECT_EQ(left("%0 \"x\": i64[6,4]", "%9",
                 "  %1, %2 = Split@13(%0) {axis=0} : i64[3,4], i64[3,4]\n"
                 "  %3 = Concat@13(%2, %1) {axis=1} : i64[3,8]\n"
                 "  %4 = const i64[3] {1,6,4}\n"
                 "  %5 = Reshape@13(%3, %4) : i64[1,6,4]\n"
                 "  %9 \"y\" = Transpose@13(%5) {perm=[2,0,1]} : i64[4,1,6]\n"),
            "BoxCopy");
}

TEST(CopyFusion, OneCopyStays) {
  CopyWriter one({2, 8, 3});
  one.roll(1, 2);
  expect_unchanged(copy_fusion_pass(), one.text());
  // Only axes of length 1 move: no copy.
  CopyWriter unit({1, 8, 3});
  unit.roll(1, 2);
  unit.transpose({1, 0, 2});
  expect_unchanged(copy_fusion_pass(), unit.text());
}

TEST(CopyFusion, WhatOthersReadStays) {
  const std::string rolls =
      "  %1 = const i64[1] {0}\n  %2 = const i64[1] {1}\n  %3 = const i64[1] {4}\n"
      "  %4 = Slice@13(%0, %2, %3, %1) : f32[3,4]\n  %5 = Slice@13(%0, %1, %2, %1) : f32[1,4]\n"
      "  %6 \"r\" = Concat@13(%4, %5) {axis=0} : f32[4,4]\n"
      "  %7 = Slice@13(%6, %2, %3, %2) : f32[4,3]\n  %8 = Slice@13(%6, %1, %2, %2) : f32[4,1]\n"
      "  %9 \"y\" = Concat@13(%7, %8) {axis=1} : f32[4,4]\n";
  EXPECT_EQ(left("%0 \"x\": f32[4,4]", "%9", rolls), "BoxCopy");
  // The value in between is the model's output, or a program's operand; the other half comes from elsewhere.
  stays("%0 \"x\": f32[4,4]", "%9, %6", rolls);
  stays("%0 \"x\": f32[4,4]", "%9, %10", rolls + "  %10 \"z\" = Relu@14(%6) : f32[4,4]\n");
  std::string mixed = rolls;
  mixed.replace(mixed.find("Slice@13(%6, %1"), 15, "Slice@13(%20, %1");
  stays("%0 \"x\": f32[4,4], %20 \"w\": f32[4,4]", "%9", mixed);
}

TEST(CopyFusion, StepsAreNotLookedThrough) {
  stays("%0 \"x\": f32[4,4]", "%9",
        "  %1 = const i64[1] {0}\n  %2 = const i64[1] {2}\n  %3 = const i64[1] {4}\n  %5 = const i64[1] {1}\n"
        "  %4 = Transpose@13(%0) {perm=[1,0]} : f32[4,4]\n"
        "  %6 = Slice@13(%4, %1, %3, %1, %2) : f32[2,4]\n  %7 = Slice@13(%4, %5, %3, %1, %2) : f32[2,4]\n"
        "  %9 \"y\" = Concat@13(%6, %7) {axis=0} : f32[4,4]\n");
}

TEST(CopyFusion, RandomChainsKeepEveryElement) {
  std::mt19937 rng(7);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(rng() % n); };
  int fused = 0;
  for (int i = 0; i < 300; ++i) {
    SCOPED_TRACE("chain " + std::to_string(i));
    CopyWriter w({2, 6, 8, 4});
    for (std::size_t steps = 2 + below(5); steps > 0; --steps) {
      const Dims dims = w.dims();
      const std::size_t axis = below(dims.size());
      const std::int64_t n = dims[axis];
      switch (below(4)) {
        case 0:
          if (n > 1) w.roll(axis, 1 + static_cast<std::int64_t>(below(static_cast<std::size_t>(n) - 1)));
          break;
        case 1: {
          Dims perm(dims.size());
          std::iota(perm.begin(), perm.end(), 0);
          std::shuffle(perm.begin(), perm.end(), rng);
          w.transpose(perm);
          break;
        }
        case 2: {
          Dims to = dims;
          if (n % 2 == 0 && dims.size() < 6) {
            to[axis] = n / 2;
            to.insert(to.begin() + static_cast<std::ptrdiff_t>(axis) + (below(2) == 0 ? 0 : 1), 2);
          }
          w.reshape(to);
          break;
        }
        default:
          if (axis + 1 < dims.size()) {
            Dims to = dims;
            to[axis] *= to[axis + 1];
            to.erase(to.begin() + static_cast<std::ptrdiff_t>(axis) + 1);
            w.reshape(to);
          }
      }
    }
    if (simplified(copy_fusion_pass(), w.text()).find("BoxCopy") != std::string::npos) ++fused;
  }
  EXPECT_GT(fused, 100) << "the chains give the pass too little to do";
}

TEST(CopyPieces, CutAtTheirEdges) {
  // Rows of 4 in windows of 2: cutting one off takes a window apart.
  const auto windows = reshaped_copy(whole_copy({8}), {4, 2});
  ASSERT_TRUE(windows.has_value());
  EXPECT_EQ(windows->pieces.size(), 1u);
  const auto merged = reshaped_copy(transposed_copy(*windows, {1, 0}), {8});
  ASSERT_TRUE(merged.has_value());
  const auto part = sliced_copy(*merged, 0, 1, 6);
  ASSERT_TRUE(part.has_value());
  EXPECT_EQ(part->pieces.size(), 2u);
  EXPECT_EQ(element_count(copy_boxes(*part)[0].dims) + element_count(copy_boxes(*part)[1].dims), 5);
  EXPECT_FALSE(reshaped_copy(whole_copy({6}), {4, 2}).has_value());
}

}  // namespace
}  // namespace atc::passes
