// Mutated option values: whatever the text, parsing ends with a value that keeps its promises or one
// diagnostic.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "atc/base/error_codes.h"
#include "driver/options.h"

namespace atc::driver {
namespace {

const std::vector<std::string> kSeeds = {
    "--input_shape=a:1,3,224,224;b:c:0:-1,2~8;s:",
    "--input_shape=x:[1,3,640~4096,2~-1];",
    "--dynamic_dims=1,2;3,4;",
    "--dynamic_image_size=8,8;16,16",
    "--dynamic_batch_size=1,2,4,8",
    "--input_shape_range=x:[1~8,3,-1];y:[2]",
    "--out_nodes=Conv_1:0;Relu_2:1",
    "--output_type=Conv_1:0:FP16;Relu_2:1:UINT8",
    "--soc_version=Ascend310P3",
    "--precision_mode_v2=mixed_float16",
    "--threads=16",
};

std::string mutated(std::string text, std::mt19937& random) {
  constexpr std::string_view kAlphabet = ":;,~-[]=.0123456789 aAx\t\"\x80";
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  for (std::size_t edits = 1 + below(4); edits > 0; --edits) {
    const std::size_t at = below(text.size() + 1);
    switch (below(3)) {
      case 0:
        text.insert(at, 1, kAlphabet[below(kAlphabet.size())]);
        break;
      case 1:
        text.erase(at, 1 + below(3));
        break;
      default:
        text.insert(at, text.substr(below(text.size() + 1), below(6)));
    }
  }
  return text;
}

TEST(OptionMutation, EveryOutcomeIsAValueOrOneDiagnostic) {
  std::mt19937 random(20240607);
  int accepted = 0;
  int refused = 0;
  for (int i = 0; i < 6000; ++i) {
    std::vector<std::string> words = {"--model=m.onnx", "--framework=5", "--output=o",
                                      "--soc_version=Ascend310", "--input_format=ND"};
    words.push_back(mutated(kSeeds[random() % kSeeds.size()], random));
    if (random() % 2 == 0) words.push_back(mutated(kSeeds[random() % kSeeds.size()], random));
    const auto line = CommandLine::parse(words);
    const auto options = line.ok() ? read_options(*line, {.files = false, .supported = false})
                                   : StatusOr<CompileOptions>(line.status());
    if (!options.ok()) {
      ++refused;
      ASSERT_NE(find_error_code(options.status().diagnostic().code), nullptr);
      ASSERT_FALSE(options.status().diagnostic().message.empty());
      continue;
    }
    ++accepted;
    for (const InputShape& shape : (*options).input_shapes) {
      ASSERT_FALSE(shape.name.empty());
      for (const DimBound& dim : shape.dims)
        ASSERT_TRUE(dim.is_any() ||
                    (dim.min >= 1 && (dim.max == DimBound::kUnbounded || dim.max >= dim.min)));
    }
    for (const Dims& gear : (*options).gears.values)
      for (const std::int64_t number : gear) ASSERT_GE(number, 1);
    for (const OutNode& node : (*options).out_nodes) ASSERT_FALSE(node.name.empty());
  }
  EXPECT_GT(accepted, 150);
  EXPECT_GT(refused, 1500);
}

}  // namespace
}  // namespace atc::driver
