#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "om/writer.h"
#include "sample_model.h"

namespace atc::om {
namespace {

enum ChildResult { kRefused = 0, kWritten = 1, kOtherCode = 2, kNoLimit = 3 };

/// Writes in a process that may not make files longer than `limit`: what a full disk looks like.
int write_under_limit(const test::SampleModel& model, const std::filesystem::path& path, rlim_t limit) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit bound{limit, limit};
    if (::setrlimit(RLIMIT_FSIZE, &bound) != 0) ::_exit(kNoLimit);
    const Status written = write_om(path, model.plan, model.weights, *model.graph);
    if (written.ok()) ::_exit(kWritten);
    ::_exit(written.diagnostic().code == "E13004" ? kRefused : kOtherCode);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

TEST(OmWriter, AFullDiskLeavesNothingBehind) {
  const test::TemporaryFolder folder;
  test::SampleModel model = test::sample_model(1 << 20);
  // In the header, in MODEL_DEF, in the hole between the weights, in the last section.
  for (const rlim_t limit : {100UL, 1000UL, 100000UL, (1UL << 20) + 4096UL}) {
    EXPECT_EQ(write_under_limit(model, folder / "model.om", limit), kRefused) << "limit " << limit;
    EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "limit " << limit;
  }
  EXPECT_EQ(write_under_limit(model, folder / "model.om", 1UL << 30), kWritten);
}

TEST(OmWriter, AFailureKeepsTheFileThatWasThere) {
  const test::TemporaryFolder folder;
  const test::SampleModel small = test::sample_model();
  const std::string before = test::to_text(test::write_to_bytes(small, folder));
  const test::SampleModel model = test::sample_model(1 << 20);
  EXPECT_EQ(write_under_limit(model, folder / "model.om", 100000UL), kRefused);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
  EXPECT_EQ(std::filesystem::file_size(folder / "model.om"), before.size());
}

}  // namespace
}  // namespace atc::om
