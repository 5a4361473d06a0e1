// RoiAlign on the AI Core.
#include "runtime/one_node.h"

namespace atc::runtime {
namespace {

constexpr double kTolerance = 1e-4;

struct Regions {
  Dims data = {1, 3, 9, 12};
  std::int64_t count = 5;
  DType dtype = DType::F32;
  int version = 16;
};

struct RoiAlign : OneNode {
  explicit RoiAlign(const Regions& r) : OneNode("RoiAlign", r.version) {
    input(random_values(r.dtype, r.data, 1));
    // Corners in and around the data: beyond its edges, far away, of the wrong order.
    std::mt19937 rng(2);
    std::uniform_real_distribution<double> at(-8, 60);
    std::vector<double> rois;
    for (std::int64_t i = 0; i < 4 * r.count; ++i) rois.push_back(at(rng));
    input(from_doubles(r.dtype, {r.count, 4}, rois));
    input(random_integers(DType::I64, {r.count}, 0, r.data[0] - 1, 3));
    node("output_height", 3).node("output_width", 2);
  }
  RoiAlign& node(const std::string& name, std::int64_t value) {
    attr(name, value);
    return *this;
  }
};

TEST(LowerRoiAlign, BothModesAndBothCoordinates) {
  for (const char* mode : {"avg", "max"})
    for (const char* transform : {"half_pixel", "output_half_pixel"})
      for (const std::int64_t ratio : {1, 2, 3}) {
        SCOPED_TRACE(std::string(mode) + " " + transform + " " + std::to_string(ratio));
        RoiAlign n{{}};
        n.node("sampling_ratio", ratio).attr("mode", mode).attr("coordinate_transformation_mode", transform);
        n.expect_on_ai_core(kTolerance);
      }
}

TEST(LowerRoiAlign, RegionsOfSeveralImages) {
  RoiAlign n{{.data = {3, 4, 7, 5}, .count = 9}};
  n.node("sampling_ratio", 2).expect_on_ai_core(kTolerance);
  RoiAlign old{{.data = {2, 2, 7, 5}, .count = 4, .version = 10}};
  old.node("sampling_ratio", 2).expect_on_ai_core(kTolerance);
}

TEST(LowerRoiAlign, MoreRegionsThanTheWorkspaceHolds) {
  RoiAlign n{{.data = {1, 64, 6, 6}, .count = 350}};
  n.node("output_height", 7).node("output_width", 7).node("sampling_ratio", 2).expect_on_ai_core(kTolerance);
}

TEST(LowerRoiAlign, AsManySamplesAsPixelsIsTheAiCpus) {
  RoiAlign n{{}};
  n.node("sampling_ratio", 0).expect_on_ai_cpu();
}

}  // namespace
}  // namespace atc::runtime
