#include "viewer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "sample_model.h"

namespace atc::om {
namespace {

using test::odd_model;
using test::sample_model;
using test::SampleModel;
using test::TemporaryFolder;
using test::view;
using test::ViewedModel;
using test::ViewedNode;
using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

std::string written(const SampleModel& model) {
  const TemporaryFolder folder;
  return test::to_text(test::write_to_bytes(model, folder));
}

const ViewedNode& node_of_type(const ViewedModel& model, const std::string& type) {
  const auto at = std::find_if(model.nodes.begin(), model.nodes.end(),
                               [&](const ViewedNode& n) { return n.type == type; });
  EXPECT_NE(at, model.nodes.end()) << "no node of type " << type;
  return *at;
}

std::vector<std::string> types(const ViewedModel& model) {
  std::vector<std::string> out;
  for (const ViewedNode& n : model.nodes) out.push_back(n.type);
  return out;
}

TEST(OmViewer, ShowsASimpleModel) {
  const std::string file = written(sample_model());
  const ViewedModel model = view(file);
  EXPECT_THAT(types(model), ElementsAre("Data", "MatMul", "Add", "NetOutput"));
  EXPECT_THAT(node_of_type(model, "MatMul").inputs, ElementsAre("x:0", "w:0"));
  EXPECT_THAT(node_of_type(model, "Add").inputs, ElementsAre("matmul:0", "b:0"));
  EXPECT_THAT(node_of_type(model, "NetOutput").inputs, ElementsAre("add:0"));
  EXPECT_EQ(node_of_type(model, "Data").attributes.at("index"), "i");
  EXPECT_THAT(model.values.at("matmul:0").shape, ElementsAre(2, 4));
  EXPECT_EQ(model.values.at("matmul:0").dtype, 1);
}

TEST(OmViewer, FindsTheConstantsInTheWeightSection) {
  const SampleModel sample = sample_model();
  const std::string file = written(sample);
  const ViewedModel model = view(file);
  ASSERT_THAT(model.constants, ElementsAre(Pair("b", ::testing::_), Pair("w", ::testing::_)));
  EXPECT_EQ(model.constants.at("w").data, test::to_text(sample.weights[0].bytes));
  EXPECT_EQ(model.constants.at("b").data, test::to_text(sample.weights[1].bytes));
}

TEST(OmViewer, PartitionsAreThoseOfThePage) {
  const std::string file = written(sample_model());
  const ViewedModel model = view(file);
  std::vector<std::uint32_t> numbers;
  for (const auto& [type, bytes] : model.partitions) numbers.push_back(type);
  EXPECT_THAT(numbers, UnorderedElementsAre(0U, 1U, 2U, 3U, 8U));
  // Back to back in table order, the weights on a page of the file.
  const auto offset = [&](std::uint32_t type) {
    return static_cast<std::size_t>(model.partitions.at(type).data() - file.data());
  };
  EXPECT_EQ(offset(0), 256 + 8 + 5 * 24U);
  std::size_t end = offset(0);
  for (const std::uint32_t type : {0U, 1U, 2U, 3U, 8U}) {
    EXPECT_EQ(offset(type), end);
    end += model.partitions.at(type).size();
  }
  EXPECT_EQ(end, file.size());
  EXPECT_EQ(offset(1) % 4096, 0U);
}

TEST(OmViewer, HeaderFieldsAreWhereThePageHasThem) {
  const std::string file = written(sample_model());
  const auto at = [&](std::size_t offset, std::size_t bytes) {
    std::uint64_t value = 0;
    std::memcpy(&value, file.data() + offset, bytes);
    return value;
  };
  EXPECT_EQ(at(4, 4), 256U);
  EXPECT_EQ(at(8, 4), 0x20000000U);
  EXPECT_EQ(at(76, 4), file.size() - 256);
  EXPECT_EQ(at(80, 1), 0U);
  EXPECT_STREQ(file.data() + 84, "sample");
  EXPECT_EQ(at(156, 4), 1U);
  EXPECT_EQ(at(184, 8), file.size() - 256);
}

TEST(OmViewer, ShowsWhatItMayStumbleOver) {
  const SampleModel sample = odd_model();
  const std::string file = written(sample);
  const ViewedModel model = view(file);
  EXPECT_THAT(types(model),
              ElementsAre("Data", "Conv2D", "Cast", "Resize", "SoftmaxV2", "TopK", "Mystery", "NetOutput"));
  // Packed weights: the bytes of the plan under the storage shape.
  EXPECT_EQ(model.constants.at("filter").data, test::to_text(sample.weights[0].bytes));
  // O 20 -> 2 blocks, I 3 -> 1 block of 9 taps.
  EXPECT_THAT(model.constants.at("filter").shape, ElementsAre(2, 9, 16, 16));
  // A constant that the plan does not have is inline, a large one is left out, an unused one is absent.
  EXPECT_EQ(model.constants.at("scale").data.size(), 8U);
  EXPECT_EQ(model.constants.at("large").data.size(), 0U);
  EXPECT_EQ(model.constants.count("unused"), 0U);
  // fp8 is shown as bytes.
  EXPECT_EQ(model.constants.at("narrow").dtype, 4);
  // Absent inputs keep their place.
  EXPECT_THAT(node_of_type(model, "Conv2D").inputs, ElementsAre("image:0", "filter:0", ""));
  EXPECT_THAT(node_of_type(model, "Resize").inputs, ElementsAre("same:0:0", "", "scale:0"));
  EXPECT_EQ(node_of_type(model, "Cast").name, "same:0_1");
  // The same value as two kinds of consumer see it: NC1HWC0 storage dims, C1 = ceil(20 / 16).
  EXPECT_THAT(model.values.at("same:0:0").shape, ElementsAre(1, 2, 8, 8, 16));
  // Open dims and ranks.
  EXPECT_THAT(model.values.at(node_of_type(model, "TopK").name + ":1").shape, ElementsAre(-1));
  EXPECT_THAT(model.values.at(node_of_type(model, "Mystery").name + ":0").shape, ElementsAre(-2));
}

TEST(OmViewer, AttributesHaveKindsThatItShows) {
  const std::string file = written(odd_model());
  const ViewedModel model = view(file);
  EXPECT_THAT(node_of_type(model, "SoftmaxV2").attributes,
              UnorderedElementsAre(Pair("alpha", "f"), Pair("floats", "list"), Pair("strings", "list"),
                                   Pair("tensor", "t"), Pair("tensors", "list"), Pair("body", "s"),
                                   Pair("_onnx_op_type", "s"), Pair("_datadump_original_op_names", "list")));
  EXPECT_THAT(node_of_type(model, "Conv2D").attributes,
              UnorderedElementsAre(Pair("pads", "list"), Pair("group", "i"), Pair("auto_pad", "s"),
                                   Pair("_onnx_op_type", "s")));
}

// The oracle itself must be able to refuse.
TEST(OmViewer, RefusesAFileThatBreaksItsRules) {
  std::string file = written(sample_model());
  std::string two = file;
  two[256 + 8 + 24] = 0;  // the second partition gets the first one's type
  EXPECT_THROW(view(two), std::runtime_error);
  std::string unknown = file;
  unknown[256 + 8 + 24] = 26;
  EXPECT_THROW(view(unknown), std::runtime_error);
  const auto at = file.find("w:0");
  ASSERT_NE(at, std::string::npos);
  file.replace(at, 3, "b:0");  // another constant, of another shape
  EXPECT_THROW(view(file), std::runtime_error);
}

}  // namespace
}  // namespace atc::om
