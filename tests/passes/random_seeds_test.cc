#include "passes/random_seeds.h"

#include "passes/pass_testing.h"

namespace atc::passes {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(RandomSeeds, NodesGetSeedsOfTheirOutputs) {
  const std::string before = air("%0 \"x\": f32[2], %9 \"t\": bool[]", "%1, %2, %3, %5, %6",
                                 "  %1 \"a\" = RandomNormalLike@22(%0) : ?[*]\n"
                                 "  %2 \"b\" = RandomNormalLike@22(%0) : ?[*]\n"
                                 "  %3 \"c\" = Bernoulli@22(%0) {seed=7.0} : ?[*]\n"
                                 "  %4 = const f32[] {0.5}\n"
                                 "  %5 \"d\" = Dropout@22(%0, %4, %9) : ?[*]\n"
                                 "  %6 \"e\" = Dropout@22(%0) : ?[*]\n");
  const std::string after = run_pass(random_seeds_pass(), before);
  std::vector<std::string> lines;
  for (const char* name : {"\"a\"", "\"b\"", "\"c\"", "\"d\"", "\"e\""}) {
    const std::size_t at = after.find(std::string(name) + " =");
    ASSERT_NE(at, std::string::npos) << after;
    lines.push_back(after.substr(at, after.find('\n', at) - at));
  }
  EXPECT_THAT(lines[0], HasSubstr("seed="));
  EXPECT_THAT(lines[1], HasSubstr("seed="));
  EXPECT_NE(lines[0].substr(lines[0].find("seed=")), lines[1].substr(lines[1].find("seed=")));
  EXPECT_THAT(lines[2], HasSubstr("seed=7.0"));
  EXPECT_THAT(lines[3], HasSubstr("seed="));
  EXPECT_THAT(lines[4], Not(HasSubstr("seed=")));  // drops nothing
  EXPECT_EQ(run_pass(random_seeds_pass(), after), after);
}

}  // namespace
}  // namespace atc::passes
