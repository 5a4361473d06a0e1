#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>

#include "atc/base/check.h"
#include "atc/base/file.h"
#include "om/reader.h"
#include "om/writer.h"
#include "sample_model.h"

namespace atc::om {
namespace {

using test::describe;
using test::sample_model;
using test::SampleModel;
using test::TemporaryFolder;
using test::to_text;
using test::write_to_bytes;

TEST(OmRoundTrip, GivesThePlanAndTheWeightsBack) {
  const TemporaryFolder folder;
  const SampleModel model = sample_model();
  const auto loaded = load_om(write_to_bytes(model, folder));
  ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
  EXPECT_EQ(describe(loaded->plan), describe(model.plan));
  ASSERT_EQ(loaded->weights.size(), static_cast<std::size_t>(model.plan.weight_bytes));
  for (const plan::WeightPiece& piece : model.weights)
    EXPECT_EQ(std::memcmp(loaded->weights.data() + piece.offset, piece.bytes.data(), piece.bytes.size()), 0);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(loaded->weights.data()) % 64, 0U);
}

TEST(OmRoundTrip, RewritingWhatWasReadGivesTheSameBytes) {
  const TemporaryFolder folder;
  SampleModel model = sample_model();
  const std::string first = to_text(write_to_bytes(model, folder));
  auto loaded = load_om(test::to_bytes(first));
  ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
  model.plan = loaded->plan;
  model.weights = {{0, loaded->weights}};
  EXPECT_EQ(to_text(write_to_bytes(model, folder)), first);
}

TEST(OmRoundTrip, KeepsNamesThatAreNotUtf8) {
  const TemporaryFolder folder;
  SampleModel model = sample_model();
  model.plan.model_name =
      "mod\xFF"
      "el";
  model.plan.inputs[0].name = "\xC3\x28";
  model.plan.tasks[0].name = "task\x80";
  model.plan.info["atc_cmdline"] = "atc --model=\xE9.onnx";
  const auto loaded = load_om(write_to_bytes(model, folder));
  ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
  EXPECT_EQ(describe(loaded->plan), describe(model.plan));
}

TEST(OmRoundTrip, APlanWithoutWeightsNeedsNoWeightSection) {
  const TemporaryFolder folder;
  SampleModel model = sample_model();
  model.plan.tensors.resize(1);
  model.plan.tasks.clear();
  model.plan.outputs.clear();
  model.plan.weight_bytes = 0;
  model.weights.clear();
  const auto loaded = load_om(write_to_bytes(model, folder));
  ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
  EXPECT_TRUE(loaded->weights.empty());
}

TEST(OmRoundTrip, WeightsBeyondFourGiBStaySparse) {
  const TemporaryFolder folder;
  constexpr std::int64_t kGap = 5LL << 30;
  const SampleModel model = sample_model(kGap);
  ASSERT_GT(model.plan.tensors[2].offset, kGap);
  const auto path = folder / "large.om";
  const Status written = write_om(path, model.plan, model.weights, *model.graph);
  ASSERT_TRUE(written.ok()) << written.to_string();

  struct stat info {};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_GT(info.st_size, kGap);
  EXPECT_LT(info.st_blocks * 512, 1 << 20) << "the gap between the weights must be a hole";

  const auto file = map_file(path);
  ASSERT_TRUE(file.ok());
  const auto loaded = load_om(*file);
  ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
  EXPECT_EQ(describe(loaded->plan), describe(model.plan));
  const plan::WeightPiece& far = model.weights[1];
  EXPECT_EQ(std::memcmp(loaded->weights.data() + far.offset, far.bytes.data(), far.bytes.size()), 0);
}

TEST(OmWriter, RefusesPiecesThatOverlapOrLeaveTheSection) {
  const TemporaryFolder folder;
  const auto write = [&](const SampleModel& m) {
    return write_om(folder / "bad.om", m.plan, m.weights, *m.graph);
  };
  SampleModel overlapping = sample_model();
  overlapping.weights[1].offset = 64;
  EXPECT_THROW((void)write(overlapping), InternalError);
  SampleModel beyond = sample_model();
  beyond.plan.weight_bytes = 140;
  EXPECT_THROW((void)write(beyond), InternalError);
  SampleModel unaligned = sample_model(64);
  unaligned.weights[1].offset -= 8;
  EXPECT_THROW((void)write(unaligned), InternalError);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(OmWriter, TakesPiecesInAnyOrder) {
  const TemporaryFolder folder;
  SampleModel model = sample_model();
  const std::string in_order = to_text(write_to_bytes(model, folder));
  std::swap(model.weights[0], model.weights[1]);
  EXPECT_EQ(to_text(write_to_bytes(model, folder)), in_order);
}

}  // namespace
}  // namespace atc::om
