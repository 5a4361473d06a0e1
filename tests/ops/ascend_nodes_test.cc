#include <algorithm>
#include <cmath>

#include "ops/node_case.h"

// Custom nodes of Ascend's own operators, accepted by their type.
namespace atc::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(AscendNodes, AreKnownInEveryDomain) {
  for (const char* type :
       {"BatchMultiClassNMS", "RoiExtractor", "DeformableConv2D", "YoloxBoundingBoxDecode", "PSROIPooling"})
    for (const char* domain : {"", "ai.onnx", "mmdeploy", "npu", "custom"}) {
      const OpDef* def = Registry::instance().find(domain, type, 1);
      ASSERT_NE(def, nullptr) << domain << "." << type;
      EXPECT_EQ(def->name, type);
    }
  EXPECT_EQ(Registry::instance().find("mmdeploy", "Relu", 13),
            nullptr);  // the standard's stay in their domain
}

// BatchMultiClassNMS ---------------------------------------------------------------------------------------

class ClassNms : public NodeCase {
 public:
  explicit ClassNms(int per_class = 10, int total = 6) : NodeCase("BatchMultiClassNMS", 1, 4, "mmdeploy") {
    attr("score_threshold", 0.25F).attr("iou_threshold", 0.5F);
    attr("max_size_per_class", per_class).attr("max_total_size", total);
  }
};

struct Found {
  double score;
  int label;
  std::size_t box;
};

/// Overlap of unit-high boxes that lie side by side: 1-D intervals.
double overlap(double a, double b, double width) {
  const double common = std::max(0.0, width - std::abs(a - b));
  return common / (2 * width - common);
}

TEST(BatchMultiClassNMS, AgreesWithAnExhaustiveSearch) {
  constexpr std::size_t kBoxes = 12, kClasses = 3;
  const std::vector<double> left = noise(kBoxes, 11);  // boxes of width 1.5
  std::vector<double> corners;
  for (double v : left) corners.insert(corners.end(), {v, 0, v + 1.5, 1});
  std::vector<double> scores;
  for (double v : noise(kBoxes * kClasses, 12)) scores.push_back(std::abs(v) / 2);
  // A box is kept when no better kept box of its class overlaps it: decided from the best down.
  std::vector<Found> expected;
  for (std::size_t c = 0; c < kClasses; ++c) {
    std::vector<bool> kept(kBoxes), decided(kBoxes);
    for (std::size_t round = 0; round < kBoxes; ++round) {
      std::size_t best = kBoxes;
      for (std::size_t i = 0; i < kBoxes; ++i)
        if (!decided[i] && (best == kBoxes || scores[i * kClasses + c] > scores[best * kClasses + c]))
          best = i;
      decided[best] = true;
      kept[best] = scores[best * kClasses + c] > 0.25;
      for (std::size_t i = 0; i < kBoxes; ++i)
        if (i != best && kept[i] && overlap(left[i], left[best], 1.5) > 0.5) kept[best] = false;
      if (kept[best]) expected.push_back({scores[best * kClasses + c], static_cast<int>(c), best});
    }
  }
  std::ranges::sort(expected, [](const Found& a, const Found& b) { return a.score > b.score; });
  ASSERT_GT(expected.size(), 6U);

  ClassNms c;
  const auto y = c.data(f32({1, 12, 1, 4}, corners)).data(f32({1, 12, 3}, scores)).run();
  const auto boxes = to_doubles(y.at(0));
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(to_doubles(y.at(1))[i], expected[i].score, 1e-6);
    EXPECT_EQ(to_int64s(y.at(2))[i], expected[i].label);
    EXPECT_NEAR(boxes[4 * i], left[expected[i].box], 1e-6);
    EXPECT_NEAR(boxes[4 * i + 2], left[expected[i].box] + 1.5, 1e-6);
  }
  EXPECT_THAT(to_int64s(y.at(3)), ElementsAre(6));
}

TEST(BatchMultiClassNMS, BoxesOfEachClassAndZeroRows) {
  // Two images, two boxes, two classes with boxes of their own.
  std::vector<double> corners;
  for (int i = 0; i < 8; ++i) corners.insert(corners.end(), {10.0 * i, 0, 10.0 * i + 1, 1});
  ClassNms c(1, 3);
  const auto y =
      c.data(f32({2, 2, 2, 4}, corners)).data(f32({2, 2, 2}, {0.5, 0.1, 0.6, 0.9, 0.2, 0.1, 0.3, 0.2})).run();
  EXPECT_THAT(to_int64s(y.at(3)), ElementsAre(2, 1));
  expect_near(y.at(1), {2, 3}, {0.9, 0.6, 0, 0.3, 0, 0});
  expect_near(y.at(2), {2, 3}, {1, 0, 0, 0, 0, 0});
  expect_near(y.at(0), {2, 3, 4},
              {30, 0, 31, 1, 20, 0, 21, 1, 0, 0, 0, 0, 60, 0, 61, 1, 0, 0, 0, 0, 0, 0, 0, 0});
}

TEST(BatchMultiClassNMS, InfersAndRefuses) {
  ClassNms c;
  c.typed(DType::F16, Dims{2, 100, 1, 4}).typed(DType::F16, Dims{2, 100, 80});
  EXPECT_EQ(c.inferred(0), "f16[2,6,4]");
  EXPECT_EQ(c.inferred(2), "f16[2,6]");
  EXPECT_EQ(c.inferred(3), "i32[2]");
  ClassNms shapes;
  shapes.typed(DType::F16, Dims{2, 100, 3, 4}).typed(DType::F16, Dims{2, 100, 80});
  EXPECT_THAT(shapes.inferred(), HasSubstr("must have shape [batch,boxes,classes or 1,4]"));
  ClassNms total(1, 0);
  total.typed(DType::F16, Dims{2, 100, 1, 4}).typed(DType::F16, Dims{2, 100, 80});
  EXPECT_THAT(total.inferred(), HasSubstr("must be at least 1"));
  NodeCase bare("BatchMultiClassNMS", 11);
  bare.typed(DType::F16, Dims{2, 100, 1, 4}).typed(DType::F16, Dims{2, 100, 80});
  EXPECT_THAT(bare.inferred(), HasSubstr("required attribute iou_threshold is missing"));
}

// RoiExtractor ---------------------------------------------------------------------------------------------

/// A plane with value row + column of each pixel's place in the picture: bilinear pooling gives the value at
/// a bin's middle.
Tensor level(std::int64_t size, double scale) {
  std::vector<double> v;
  for (std::int64_t c = 0; c < 2; ++c)
    for (std::int64_t i = 0; i < size; ++i)
      for (std::int64_t j = 0; j < size; ++j)
        v.push_back(100 * scale + (c == 0 ? 1 : -1) * static_cast<double>(i + 2 * j));
  return f32({1, 2, size, size}, v);
}

TEST(RoiExtractor, TakesTheLevelOfARegionsSize) {
  // Regions of 24, 56, 112 and 500 pixels on levels with strides 4, 8 and 16.
  const std::vector<std::vector<double>> regions = {
      {8, 16, 32, 40}, {16, 24, 72, 80}, {16, 16, 144, 114}, {8, 8, 508, 508}};
  const std::vector<std::size_t> levels = {0, 0, 1, 2};
  const double strides[] = {4, 8, 16};
  for (double factor : {0.0, 0.75}) {
    NodeCase c("RoiExtractor", 1, 1, "mmdeploy");
    c.data(level(64, 1)).data(level(64, 2)).data(level(32, 3));
    std::vector<double> rois;
    std::vector<double> expected;
    for (std::size_t r = 0; r < 4; ++r) {
      rois.push_back(0);
      rois.insert(rois.end(), regions[r].begin(), regions[r].end());
      const double stride = strides[levels[r]];
      for (double sign : {1.0, -1.0})
        for (int i = 0; i < 2; ++i)
          for (int j = 0; j < 2; ++j) {
            const auto middle = [&](double a, double b, int bin) {
              const double grown = factor > 0 ? factor : 1;
              return ((a + b) / 2 + (b - a) * grown * (bin - 0.5) / 2) / stride - 0.5;
            };
            expected.push_back(100 * static_cast<double>(levels[r] + 1) +
                               sign * (middle(regions[r][1], regions[r][3], i) +
                                       2 * middle(regions[r][0], regions[r][2], j)));
          }
    }
    c.data(f32({4, 5}, rois)).attr("pooled_height", 2).attr("pooled_width", 2).attr("sample_num", 2);
    c.attr("spatial_scale", ir::Attribute(std::vector<float>{0.25F, 0.125F, 0.0625F}))
        .attr("finest_scale", 56);
    c.attr("roi_scale_factor", static_cast<float>(factor));
    expect_near(c.run_one(), {4, 2, 2, 2}, expected, 1e-3);
  }
}

TEST(RoiExtractor, InfersAndRefuses) {
  NodeCase c("RoiExtractor", 11);
  c.typed(DType::F32, Dims{1, 256, 200, 304})
      .typed(DType::F32, Dims{1, 256, 100, 152})
      .typed(DType::F32, Dims{1000, 5});
  EXPECT_EQ(c.inferred(), "f32[1000,256,7,7]");
  NodeCase channels("RoiExtractor", 11);
  channels.typed(DType::F32, Dims{1, 256, 9, 9})
      .typed(DType::F32, Dims{1, 128, 5, 5})
      .typed(DType::F32, Dims{1, 5});
  EXPECT_THAT(channels.inferred(), HasSubstr("must have the 256 channels of the others"));
  NodeCase mode("RoiExtractor", 11);
  mode.typed(DType::F32, Dims{1, 2, 9, 9}).typed(DType::F32, Dims{1, 5}).attr("pool_mode", "max");
  EXPECT_THAT(mode.inferred(), HasSubstr("pool_mode is 'max', only avg is known"));
  NodeCase columns("RoiExtractor", 11);
  columns.typed(DType::F32, Dims{1, 2, 9, 9}).typed(DType::F32, Dims{1, 4});
  EXPECT_THAT(columns.inferred(), HasSubstr("must have shape [regions,5]"));
}

// DeformableConv2D -----------------------------------------------------------------------------------------

TEST(DeformableConv2D, IsDeformConvWithItsOffsetsSorted) {
  // Two deformable groups, a 2 x 3 filter, output 3 x 2. ONNX: (row, column) of each tap; here all columns'
  // offsets, then all rows', then the masks.
  constexpr std::size_t kTaps = 2 * 6, kPoints = 6;
  const std::vector<double> offset = noise(2 * kTaps * kPoints, 21);
  const std::vector<double> mask = noise(kTaps * kPoints, 22);
  std::vector<double> sorted;
  for (std::size_t first : {1U, 0U})
    for (std::size_t tap = 0; tap < kTaps; ++tap)
      for (std::size_t p = 0; p < kPoints; ++p) sorted.push_back(offset[(2 * tap + first) * kPoints + p]);
  sorted.insert(sorted.end(), mask.begin(), mask.end());
  const Tensor x = noise_tensor({1, 4, 4, 5}, 23);
  const Tensor w = noise_tensor({2, 2, 2, 3}, 24);
  const Tensor bias = noise_tensor({2}, 25);

  NodeCase onnx("DeformConv", 19);
  onnx.data(x).data(w).data(f32({1, 24, 3, 2}, offset)).data(bias).data(f32({1, 12, 3, 2}, mask));
  onnx.ints("strides", {2, 3}).ints("pads", {1, 1, 1, 1}).attr("group", 2).attr("offset_group", 2);
  const Tensor expected = onnx.run_one();
  NodeCase c("DeformableConv2D", 11);
  c.data(x).data(w).data(f32({1, 36, 3, 2}, sorted)).data(bias);
  c.ints("strides", {2, 3}).ints("pads", {1}).attr("groups", 2).attr("deformable_groups", 2);
  expect_near(c.run_one(), {1, 2, 3, 2}, to_doubles(expected));
}

TEST(DeformableConv2D, OneTapReadsWhereItsOffsetSays) {
  // x[h][w] = 10 h + w; one tap, moved by (columns 0.5, rows 1) and weighted by 2.
  std::vector<double> plane;
  for (int h = 0; h < 4; ++h)
    for (int w = 0; w < 4; ++w) plane.push_back(10 * h + w);
  std::vector<double> field(9, 0.5);
  field.insert(field.end(), 9, 1.0);
  field.insert(field.end(), 9, 2.0);
  std::vector<double> expected;
  for (int h = 0; h < 3; ++h)
    for (int w = 0; w < 3; ++w) expected.push_back(3 * 2 * (10 * (h + 1) + w + 0.5));
  NodeCase c("DeformableConv2D", 11);
  // The bottom and the right row of outputs are cut off by a negative room: a 2 x 2 filter with one tap.
  c.data(f32({1, 1, 4, 4}, plane)).data(f32({1, 1, 2, 2}, {3, 0, 0, 0}));
  std::vector<double> taps;
  for (std::size_t part = 0; part < 3; ++part)
    for (std::size_t tap = 0; tap < 4; ++tap)
      taps.insert(taps.end(), field.begin() + static_cast<std::ptrdiff_t>(9 * part),
                  field.begin() + static_cast<std::ptrdiff_t>(9 * part + 9));
  c.data(f32({1, 12, 3, 3}, taps)).ints("strides", {1, 1}).ints("pads", {0, 0});
  expect_near(c.run_one(), {1, 1, 3, 3}, expected);
}

TEST(DeformableConv2D, InfersAndRefuses) {
  const auto infer = [](Dims offsets, std::vector<std::int64_t> pads, int modulated) {
    NodeCase c("DeformableConv2D", 11);
    c.typed(DType::F32, Dims{1, 8, 10, 12}).typed(DType::F32, Dims{16, 8, 3, 3}).typed(DType::F32, offsets);
    return c.ints("strides", {1}).ints("pads", std::move(pads)).attr("modulated", modulated).inferred();
  };
  EXPECT_EQ(infer({1, 27, 10, 12}, {1, 1}, 1), "f32[1,16,10,12]");
  EXPECT_EQ(infer({1, 27, 10, 10}, {1, 1, 0, 0}, 1), "f32[1,16,10,10]");  // top, bottom, left, right
  EXPECT_THAT(infer({1, 18, 10, 12}, {1, 1}, 1), HasSubstr("must have shape [1,27,10,12]"));
  EXPECT_THAT(infer({1, 27, 10, 12}, {1, 1}, 0), HasSubstr("export with a mask"));
  EXPECT_THAT(infer({1, 27, 10, 12}, {1, 1, 1}, 1), HasSubstr("expected one, two or four values"));
}

// YoloxBoundingBoxDecode -----------------------------------------------------------------------------------

TEST(YoloxBoundingBoxDecode, CornersOfTheDecodedBox) {
  const std::vector<double> prior = {4, 8, 8, 16, 20, 12, 32, 32};
  const std::vector<double> in = noise(16, 31);
  NodeCase c("YoloxBoundingBoxDecode", 11);
  const auto y = to_doubles(c.data(f32({2, 4}, prior)).data(f32({2, 2, 4}, in)).run_one());
  for (std::size_t box = 0; box < 4; ++box) {
    // Middle and size give back what was predicted.
    const double* corner = y.data() + 4 * box;
    const double* p = prior.data() + 4 * (box % 2);
    for (std::size_t axis = 0; axis < 2; ++axis) {
      EXPECT_NEAR(((corner[axis] + corner[axis + 2]) / 2 - p[axis]) / p[axis + 2], in[4 * box + axis], 1e-5);
      EXPECT_NEAR(std::log((corner[axis + 2] - corner[axis]) / p[axis + 2]), in[4 * box + 2 + axis], 1e-5);
    }
  }
}

TEST(YoloxBoundingBoxDecode, InfersAndRefuses) {
  NodeCase c("YoloxBoundingBoxDecode", 11);
  EXPECT_EQ(c.typed(DType::F16, Dims{8400, 4}).typed(DType::F16, Dims{2, 8400, 4}).inferred(),
            "f16[2,8400,4]");
  NodeCase count("YoloxBoundingBoxDecode", 11);
  EXPECT_THAT(count.typed(DType::F16, Dims{8400, 4}).typed(DType::F16, Dims{2, 840, 4}).inferred(),
              HasSubstr("must have a box for each of the 8400 priors"));
}

// PSROIPooling ---------------------------------------------------------------------------------------------

TEST(PSROIPooling, AveragesTheChannelOfEachBin) {
  // Two output channels, bins 2 x 2: channel c * 4 + bin holds 100 c + 10 bin + column.
  std::vector<double> x;
  for (int c = 0; c < 8; ++c)
    for (int h = 0; h < 8; ++h)
      for (int w = 0; w < 8; ++w) x.push_back(100 * (c / 4) + 10 * (c % 4) + w);
  // Pixels 0 to 3 of 8 x 8 at half the picture's size; then a region beyond the picture.
  const Tensor rows = f32({2, 5}, {0, 0, 0, 7, 7, 0, 100, 100, 110, 110});
  const Tensor ascend = f32({1, 5, 2}, {0, 0, 0, 100, 0, 100, 7, 110, 7, 110});
  std::vector<double> expected;
  for (int c = 0; c < 2; ++c)
    for (int bin = 0; bin < 4; ++bin) expected.push_back(100 * c + 10 * bin + (bin % 2 == 0 ? 0.5 : 2.5));
  expected.resize(16);
  for (const Tensor& rois : {rows, ascend}) {
    NodeCase c("PSROIPooling", 11);
    c.data(f32({1, 8, 8, 8}, x))
        .data(rois)
        .attr("output_dim", 2)
        .attr("group_size", 2)
        .attr("spatial_scale", 0.5F);
    expect_near(c.run_one(), {2, 2, 2, 2}, expected);
  }
}

TEST(PSROIPooling, InfersAndRefuses) {
  const auto infer = [](std::int64_t channels, int group) {
    NodeCase c("PSROIPooling", 11);
    c.typed(DType::F32, Dims{1, channels, 14, 14}).typed(DType::F32, Dims{1, 5, 300});
    return c.attr("output_dim", 10).attr("group_size", group).attr("spatial_scale", 0.0625F).inferred();
  };
  EXPECT_EQ(infer(490, 7), "f32[300,10,7,7]");
  EXPECT_THAT(infer(480, 7), HasSubstr("must have output_dim * group_size^2 = 490 channels"));
  EXPECT_THAT(infer(490, 0), HasSubstr("must be above 0"));
}

}  // namespace
}  // namespace atc::ops
