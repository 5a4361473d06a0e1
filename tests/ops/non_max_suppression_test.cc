#include "ops/node_case.h"

namespace atc::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Tensor scalar_i64(std::int64_t v) { return i64({}, {v}); }

/// Six boxes in three places; the third has its corners swapped.
Tensor three_places() {
  return f32({1, 6, 4},
             {0, 0, 1, 1, 0, 0.1, 1, 1.1, 1, 0.9, 0, -0.1, 0, 10, 1, 11, 0, 10.1, 1, 11.1, 0, 100, 1, 101});
}

class Nms : public NodeCase {
 public:
  Nms(const Tensor& boxes, const Tensor& scores) : NodeCase("NonMaxSuppression", 11) {
    data(boxes).data(scores);
  }
};

TEST(NonMaxSuppression, KeepsTheBestOfEachPlace) {
  Nms c(three_places(), f32({1, 1, 6}, {0.9, 0.75, 0.6, 0.95, 0.5, 0.3}));
  c.data(scalar_i64(3)).data(f32({}, {0.5})).data(f32({}, {0}));
  const Tensor y = c.run_one();
  EXPECT_THAT(y.shape, ElementsAre(3, 3));
  EXPECT_THAT(to_int64s(y), ElementsAre(0, 0, 3, 0, 0, 0, 0, 0, 5));
}

TEST(NonMaxSuppression, RowsGoByBatchThenClassThenScore) {
  std::vector<double> boxes = to_doubles(three_places());
  boxes.insert(boxes.end(), boxes.begin(), boxes.begin() + 24);
  std::vector<double> scores = {0.9, 0.75, 0.6, 0.95, 0.5, 0.3, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6};
  scores.insert(scores.end(), {0.3, 0.2, 0.1, 0, 0, 0, 0, 0, 0, 0, 0, 0.7});
  Nms c(f32({2, 6, 4}, boxes), f32({2, 2, 6}, scores));
  c.data(scalar_i64(2)).data(f32({}, {0.5})).data(f32({}, {0.25}));
  EXPECT_THAT(to_int64s(c.run_one()), ElementsAre(0, 0, 3, 0, 0, 0, 0, 1, 5, 0, 1, 4, 1, 0, 0, 1, 1, 5));
}

TEST(NonMaxSuppression, ThresholdsAreStrict) {
  // Two boxes that share half of each: 0.5 / 1.5 of the union.
  const Tensor boxes = f32({1, 2, 4}, {0, 0, 1, 1, 0, 0.5, 1, 1.5});
  const auto run = [&](double iou, double score) {
    Nms c(boxes, f32({1, 1, 2}, {0.5, 0.75}));
    c.data(scalar_i64(9)).data(tensor_of(DType::F32, {}, {iou})).data(f32({}, {score}));
    return to_int64s(c.run_one());
  };
  EXPECT_THAT(run(0.34, 0), ElementsAre(0, 0, 1, 0, 0, 0));
  EXPECT_THAT(run(0.33, 0), ElementsAre(0, 0, 1));
  EXPECT_THAT(run(0.9, 0.5), ElementsAre(0, 0, 1));  // a score that is not above the threshold
}

TEST(NonMaxSuppression, CenterPointBoxes) {
  // x center, y center, width, height: the same box twice and one beside it.
  Nms c(f32({1, 3, 4}, {2, 4, 2, 6, 2, 4, 2, 6, 4, 4, 2, 6}), f32({1, 1, 3}, {0.1, 0.9, 0.5}));
  c.data(scalar_i64(9)).data(f32({}, {0})).attr("center_point_box", 1);
  EXPECT_THAT(to_int64s(c.run_one()), ElementsAre(0, 0, 1, 0, 0, 2));
}

TEST(NonMaxSuppression, AbsentInputsSelectNothing) {
  EXPECT_THAT(to_int64s(Nms(three_places(), f32({1, 1, 6}, {1, 1, 1, 1, 1, 1})).run_one()), IsEmpty());
}

TEST(NonMaxSuppression, InfersAndRefuses) {
  NodeCase c("NonMaxSuppression", 10);
  EXPECT_EQ(c.typed(DType::F32, Dims{2, 7, 4}).typed(DType::F32, Dims{2, 3, 7}).inferred(), "i64[?0,3]");
  EXPECT_THAT(NodeCase("NonMaxSuppression", 10)
                  .typed(DType::F32, Dims{2, 7, 4})
                  .typed(DType::F32, Dims{2, 7, 3})
                  .inferred(),
              HasSubstr("must have shape [batch,classes,boxes] for boxes of shape [2,7,4]"));
  EXPECT_THAT(NodeCase("NonMaxSuppression", 10)
                  .typed(DType::F32, Dims{2, 7, 5})
                  .typed(DType::F32, Dims{2, 3, 7})
                  .inferred(),
              HasSubstr("must have shape [batch,boxes,4]"));
  EXPECT_THAT(NodeCase("NonMaxSuppression", 10)
                  .typed(DType::F32, Dims{2, 7, 4})
                  .typed(DType::F32, Dims{2, 3, 7})
                  .typed(DType::I64, Dims{2})
                  .inferred(),
              HasSubstr("must be a scalar"));
}

}  // namespace
}  // namespace atc::ops
