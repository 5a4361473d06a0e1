#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string_view>

#include "om/info.h"
#include "om/json_dump.h"
#include "om/reader.h"
#include "sample_model.h"

namespace atc::om {
namespace {

using test::sample_model;
using test::TemporaryFolder;
using test::to_bytes;
using test::to_text;

constexpr std::size_t kTable = 256;

std::string sample_file() {
  const TemporaryFolder folder;
  return to_text(test::write_to_bytes(sample_model(), folder));
}

template <class T>
void store(std::string& file, std::size_t at, T value) {
  std::memcpy(file.data() + at, &value, sizeof(value));
}
template <class T>
T fetch(const std::string& file, std::size_t at) {
  T value{};
  std::memcpy(&value, file.data() + at, sizeof(value));
  return value;
}

/// The reason that loading gives; "" when it succeeds. Any code but E10041 fails the test.
std::string reason(const std::string& file) {
  const auto loaded = load_om(to_bytes(file));
  if (loaded.ok()) return {};
  EXPECT_EQ(loaded.status().diagnostic().code, "E10041");
  return loaded.status().diagnostic().message;
}

#define EXPECT_REASON(file, part) \
  EXPECT_NE(reason(file).find(part), std::string::npos) << "the reason is: " << reason(file)

TEST(OmCorrupt, TruncationAnywhereIsRefused) {
  const std::string file = sample_file();
  ASSERT_EQ(reason(file), "");
  std::vector<std::size_t> ends;
  for (std::size_t end = 0; end < 512; ++end) ends.push_back(end);
  for (std::size_t i = 0; i < 5; ++i) {
    const auto offset = fetch<std::uint64_t>(file, kTable + 8 + 24 * i + 8) + kTable + 8 + 24 * 5;
    for (const std::size_t end : {offset - 1, offset, offset + 1}) ends.push_back(end);
  }
  ends.push_back(file.size() - 1);
  for (const std::size_t end : ends) {
    std::string cut = file.substr(0, end);
    EXPECT_NE(reason(cut), "") << "cut at " << end;
    // Also with a header that owns up to the shorter length, so that later checks are reached.
    if (end <= kTable) continue;
    store(cut, 184, static_cast<std::uint64_t>(end - kTable));
    EXPECT_NE(reason(cut), "") << "cut at " << end << " with a fitting header";
    EXPECT_FALSE(dump_json(to_bytes(cut)).ok() && end < file.size() / 2) << "cut at " << end;
  }
  EXPECT_NE(reason(file + '\0'), "");
}

TEST(OmCorrupt, SaysWhatIsWrongWithTheContainer) {
  const std::string file = sample_file();
  EXPECT_REASON("", "0 bytes");
  std::string bad = file;
  bad[0] = 'X';
  EXPECT_REASON(bad, "not an .om file");
  bad = file;
  bad[80] = 1;
  EXPECT_REASON(bad, "encrypted");
  bad = file;
  store(bad, 4, std::uint32_t{512});
  EXPECT_REASON(bad, "512 bytes");
  bad = file;
  store(bad, kTable, std::uint32_t{9});
  EXPECT_REASON(bad, "9 entries");
  bad = file;
  store(bad, kTable, std::uint32_t{0});
  EXPECT_REASON(bad, "0 entries");
  bad = file;
  store(bad, kTable + 8 + 24, std::uint32_t{0});
  EXPECT_REASON(bad, "MODEL_DEF occurs twice");
  bad = file;
  store(bad, kTable + 8 + 24 + 8, fetch<std::uint64_t>(file, kTable + 8 + 24 + 8) + 1);
  EXPECT_REASON(bad, "without gaps");
  for (const std::uint64_t size : {std::uint64_t{1} << 40, ~std::uint64_t{0}, ~std::uint64_t{0} - 4096}) {
    bad = file;
    store(bad, kTable + 8 + 16, size);
    EXPECT_REASON(bad, "beyond the end of the file");
  }
  bad = file;
  store(bad, kTable + 8 + 24 * 2, std::uint32_t{4});
  EXPECT_REASON(bad, "no section TASK_INFO");
  bad = file;
  store(bad, kTable + 8, std::uint32_t{4});
  EXPECT_REASON(bad, "no section MODEL_DEF");
  bad = file;
  store(bad, kTable + 8 + 24, std::uint32_t{4});
  EXPECT_REASON(bad, "WEIGHTS_DATA has 0 bytes");
  bad = file;
  store(bad, kTable + 8 + 24 * 3, std::uint32_t{4});
  EXPECT_REASON(bad, "does not list");
}

TEST(OmCorrupt, SaysWhatIsWrongWithThePlan) {
  const TemporaryFolder folder;
  const auto written = [&](auto change) {
    test::SampleModel model = sample_model();
    change(model.plan);
    return to_text(test::write_to_bytes(model, folder));
  };
  EXPECT_REASON(written([](plan::Plan& p) { p.tasks[1].kernel.operands[0].bytes += 4; }), "takes 36 bytes");
  EXPECT_REASON(written([](plan::Plan& p) { p.tasks[1].kernel.params.pop_back(); }), "not legal");
  EXPECT_REASON(written([](plan::Plan& p) { p.soc_version = "Ascend000"; }), "Ascend000");
}

/// One to three random changes, half of them in the plan, where they reach deepest.
std::string mutated(std::string file, std::size_t task_info, std::mt19937_64& random) {
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  for (std::size_t n = 1 + below(3); n > 0; --n) {
    const std::size_t at = below(2) == 0 ? task_info + below(file.size() - task_info) : below(file.size());
    switch (below(5)) {
      case 0:
        file[at] = static_cast<char>(random());
        break;
      case 1:
        file[at] = static_cast<char>(file[at] ^ (1 << below(8)));
        break;
      case 2: {  // a varint of the largest kind
        const std::string_view huge =
            std::string_view("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F\x01").substr(0, file.size() - at);
        file.replace(at, huge.size(), huge);
        break;
      }
      case 3: {  // another stretch of the file
        const std::size_t length = std::min(below(64) + 1, file.size() - at);
        file.replace(at, length, file.substr(below(file.size() - length + 1), length));
        break;
      }
      default:
        file[at] = file[at] == 0 ? static_cast<char>(0xFF) : '\0';
    }
  }
  return file;
}

TEST(OmCorrupt, AnyMutationLoadsOrIsRefused) {
  const std::string file = sample_file();
  const auto task_info =
      static_cast<std::size_t>(fetch<std::uint64_t>(file, kTable + 8 + 24 * 2 + 8)) + kTable + 8 + 24 * 5;
  std::mt19937_64 random(20240607);
  int refused = 0, loaded = 0;
  for (int i = 0; i < 2000; ++i) {
    const Bytes bytes = to_bytes(mutated(file, task_info, random));
    const auto result = load_om(bytes);
    ++(result.ok() ? loaded : refused);
    ASSERT_TRUE(result.ok() || result.status().diagnostic().code == "E10041") << result.status().to_string();
    (void)dump_json(bytes).ok();
    (void)display_info(bytes).ok();
  }
  // Both happen, or the loop does not test what it claims to.
  EXPECT_GT(refused, 300);
  EXPECT_GT(loaded, 300);
}

}  // namespace
}  // namespace atc::om
