#include "ops/op.h"

#include "ops/node_case.h"

namespace atc::ops {
namespace {

using ::testing::HasSubstr;

const ir::Dim kN = ir::Dim::named("n");
const ir::Dim kM = ir::Dim::named("m");
ir::Dim d(std::int64_t v) { return ir::Dim::of(v); }

TEST(Broadcast, KnownAndUnknownDims) {
  EXPECT_EQ(broadcast({d(2), d(1)}, {d(3)}), (ir::Shape{d(2), d(3)}));
  EXPECT_EQ(broadcast({kN}, {d(1)}), (ir::Shape{kN}));
  EXPECT_EQ(broadcast({d(1)}, {kN}), (ir::Shape{kN}));
  EXPECT_EQ(broadcast({kN}, {d(5)}), (ir::Shape{d(5)}));
  EXPECT_EQ(broadcast({kN}, {kN}), (ir::Shape{kN}));
  EXPECT_EQ(broadcast({}, {kM, d(0)}), (ir::Shape{kM, d(0)}));
  EXPECT_EQ(broadcast({d(0)}, {d(1)}), (ir::Shape{d(0)}));
  EXPECT_EQ(broadcast({d(2)}, {d(3)}), std::nullopt);
  EXPECT_EQ(broadcast({d(0)}, {d(3)}), std::nullopt);
}

TEST(NormalizeAxis, BothEnds) {
  EXPECT_EQ(normalize_axis(-3, 3), 0);
  EXPECT_EQ(normalize_axis(2, 3), 2);
  EXPECT_EQ(normalize_axis(3, 3), std::nullopt);
  EXPECT_EQ(normalize_axis(-4, 3), std::nullopt);
  EXPECT_EQ(normalize_axis(0, 0), std::nullopt);
}

TEST(CheckSchema, AttributesCountsAndKinds) {
  EXPECT_THAT(NodeCase("Relu", 14).typed(DType::F32, Dims{1}).attr("alhpa", 1).inferred(),
              HasSubstr("attribute alhpa does not exist in opset 14"));
  EXPECT_THAT(NodeCase("LeakyRelu", 14).typed(DType::F32, Dims{1}).attr("alpa", 1.0F).inferred(),
              HasSubstr("did you mean alpha?"));
  EXPECT_THAT(NodeCase("Gather", 13)
                  .typed(DType::F32, Dims{1})
                  .typed(DType::I64, Dims{1})
                  .attr("axis", "x")
                  .inferred(),
              HasSubstr("attribute axis must be an integer, found a string"));
  EXPECT_THAT(NodeCase("Relu", 14).absent().inferred(), HasSubstr("has 0 inputs, expected 1"));
  EXPECT_THAT(NodeCase("Add", 14).absent().typed(DType::F32, Dims{1}).inferred(),
              HasSubstr("input 0 is required but absent"));
  EXPECT_THAT(NodeCase("Relu", 14, 2).typed(DType::F32, Dims{1}).inferred(),
              HasSubstr("has 2 outputs, expected 1"));
  EXPECT_EQ(NodeCase("Clip", 13).typed(DType::F32, Dims{1}).absent().absent().inferred(), "f32[1]");
}

TEST(Registry, DefinitionsAreWholeAndDoNotOverlap) {
  const OpDef* previous = nullptr;
  for (const OpDef* def : Registry::instance().all()) {
    SCOPED_TRACE(std::string(def->name) + " since " + std::to_string(def->since));
    EXPECT_NE(def->infer, nullptr);
    EXPECT_TRUE(def->reference != nullptr || def->domain == "atc");
    EXPECT_LE(def->since, def->until);
    EXPECT_LE(def->inputs.min, def->inputs.max);
    EXPECT_LE(def->outputs.min, def->outputs.max);
    if (previous != nullptr && previous->name == def->name && previous->domain == def->domain) {
      EXPECT_GT(def->since, previous->until);
    }
    previous = def;
    for (const AttrSpec& a : def->attrs)
      for (const AttrSpec& b : def->attrs) {
        const bool together = a.since <= b.until && b.since <= a.until;
        EXPECT_FALSE(&a != &b && a.name == b.name && together) << a.name << " twice";
      }
  }
}

TEST(Registry, FindsByVersion) {
  const Registry& r = Registry::instance();
  EXPECT_EQ(r.find("", "Squeeze", 12)->until, 12);
  EXPECT_EQ(r.find("ai.onnx", "Squeeze", 13)->since, 13);
  EXPECT_EQ(r.find("", "Gelu", 19), nullptr);
  EXPECT_EQ(r.find("", "NoSuchOperator", 13), nullptr);
  EXPECT_EQ(r.find("com.example", "Relu", 13), nullptr);
}

}  // namespace
}  // namespace atc::ops
