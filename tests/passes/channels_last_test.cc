#include "passes/channels_last.h"

#include "pass_testing.h"

namespace atc::passes {
namespace {

/// %1 = MaxPool of %0, whose epilogue returns the accumulator of f16[`inner`]; it gives f16[`outer`].
std::string pool(const std::string& inner, const std::string& outer, const std::string& attrs = "",
                 const std::string& name = "") {
  return "  %1" + name + " = atc::MaxPool(%0) {" + attrs + "epilogue=graph \"epilogue\"(%0 \"acc\": f16[" +
         inner + "]) -> (%0) {\n  }} : f16[" + outer + "]\n";
}

const std::string kX = "%0 \"x\": f16[2,20,4,5] NC1HWC0";

int stored(const std::string& inputs, const std::string& outputs, const std::string& body) {
  const auto graph = graph_of(run_pass(channels_last_pass(), air(inputs, outputs, body)));
  int count = 0;
  for (const auto& n : graph->nodes()) count += n->attrs.has("channels_last") ? 1 : 0;
  return count;
}

TEST(ChannelsLast, AWindowStoresItsTranspose) {
  expect_rewrite(
      channels_last_pass(),
      air(kX, "%2",
          pool("2,20,4,5", "2,20,4,5") + "  %2 \"y\" = Transpose@13(%1) {perm=[0,2,3,1]} : f16[2,4,5,20]\n"),
      air(kX, "%1", pool("2,20,4,5", "2,4,5,20", "channels_last=[2,4,5,20], ", " \"y\"")));
}

TEST(ChannelsLast, AChainOfViewsThatEndsInThatOrder) {
  EXPECT_EQ(stored(kX, "%4",
                   pool("2,20,4,5", "2,20,4,5") + "  %9 = const i64[3] {2,20,20}\n"
                                                  "  %2 = Reshape@13(%1, %9) : f16[2,20,20]\n"
                                                  "  %3 = Transpose@13(%2) {perm=[0,2,1]} : f16[2,20,20]\n"
                                                  "  %4 = Relu@13(%3) : f16[2,20,20]\n"),
            1);
}

TEST(ChannelsLast, ConversionsFromBlocksAndProgramsOnThem) {
  const std::string transpose = "  %2 = Transpose@13(%1) {perm=[0,2,3,1]} : f16[2,4,5,32]\n";
  const std::string x = "%0 \"x\": f16[2,32,4,5]";
  const std::string program =
      "  %1 = atc::Fused(%0) {body=graph \"body\"(%0: f16[2,32,4,5]) -> (%1) {\n    %1 = Relu@14(%0) : "
      "f16[2,32,4,5]\n  }} : f16[2,32,4,5]\n";
  EXPECT_EQ(stored(x + " NC1HWC0", "%2", "  %1 = atc::TransData(%0) : f16[2,32,4,5]\n" + transpose), 1);
  EXPECT_EQ(stored(x + " NC1HWC0", "%2", program + transpose), 1);
  // In rows its Transpose is left to others.
  EXPECT_EQ(stored(x, "%2", program + transpose), 0);
}

TEST(ChannelsLast, NotWhereOthersReadOrTheOrderIsAnother) {
  const std::string transpose = "  %2 = Transpose@13(%1) {perm=[0,2,3,1]} : f16[2,4,5,20]\n";
  const std::string body = pool("2,20,4,5", "2,20,4,5") + transpose;
  EXPECT_EQ(stored(kX, "%2", body), 1);
  EXPECT_EQ(stored(kX, "%2, %1", body), 0);
  EXPECT_EQ(stored(kX, "%2, %3", body + "  %3 = Relu@14(%1) : f16[2,20,4,5]\n"), 0);
  EXPECT_EQ(
      stored(kX, "%2",
             pool("2,20,4,5", "2,20,4,5") + "  %2 = Transpose@13(%1) {perm=[0,3,2,1]} : f16[2,5,4,20]\n"),
      0);
  EXPECT_EQ(
      stored(kX, "%2",
             pool("2,20,4,5", "2,20,4,5") + "  %2 = Transpose@13(%1) {perm=[2,3,0,1]} : f16[4,5,2,20]\n"),
      0);
  EXPECT_EQ(stored(kX, "%2", pool("2,20,4,5", "2,20,4,5") + "  %2 = Relu@14(%1) : f16[2,20,4,5]\n"), 0);
  // One channel or one position: the Transpose moves nothing.
  EXPECT_EQ(
      stored("%0 \"x\": f16[2,20,1,1] NC1HWC0", "%2",
             pool("2,20,1,1", "2,20,1,1") + "  %2 = Transpose@13(%1) {perm=[0,2,3,1]} : f16[2,1,1,20]\n"),
      0);
}

}  // namespace
}  // namespace atc::passes
