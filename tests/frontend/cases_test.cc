// Real models; see the folder that ATC_CASES names.
#include <algorithm>
#include <cstdlib>

#include "matchers.h"
#include "model_builder.h"

namespace atc::frontend {
namespace {

namespace fs = std::filesystem;

fs::path cases_folder() {
  if (const char* named = std::getenv("ATC_CASES")) return named;
  return fs::path(ATC_SOURCE_DIR) / ".." / "shared" / "cases";
}

std::vector<fs::path> models_in(const std::string& group) {
  std::vector<fs::path> models;
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(cases_folder() / group, missing))
    if (fs::exists(entry.path() / "model.onnx")) models.push_back(entry.path() / "model.onnx");
  std::sort(models.begin(), models.end());
  return models;
}

class Cases : public testing::TestWithParam<std::string> {};

TEST_P(Cases, Load) {
  const auto models = models_in(GetParam());
  if (models.empty()) GTEST_SKIP() << "no models in " << cases_folder() / GetParam();
  for (const fs::path& file : models) {
    const auto model = import_model(file);
    if (model.ok()) {
      EXPECT_EQ(ir::verify(*model->graph), "") << file;
      EXPECT_GT(model->graph->outputs().size(), 0u) << file;
      continue;
    }
    // What cannot load: types other than tensors, and a file that was cut on purpose.
    const Diagnostic& d = model.status().diagnostic();
    const bool expected =
        d.code == "E13025" || (d.code == "E10041" && d.message.find("truncated") != std::string::npos);
    EXPECT_TRUE(expected) << file << ": " << d.code << ": " << d.message;
  }
}

INSTANTIATE_TEST_SUITE_P(Groups, Cases, testing::Values("models", "exported", "reported", "onnx_node"),
                         [](const auto& group) { return group.param; });

}  // namespace
}  // namespace atc::frontend
