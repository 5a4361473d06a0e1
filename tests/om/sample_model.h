#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "atc/base/bytes.h"
#include "atc/ir/graph.h"
#include "plan/plan.h"

namespace atc::om::test {

/// A compiled model small enough to read: what write_om takes.
struct SampleModel {
  std::unique_ptr<ir::Graph> graph;
  plan::Plan plan;
  std::vector<plan::WeightPiece> weights;
};

/// x[2,8] * w[8,4] on the AI CPU, + b[4] and Relu on the AI Core. `gap` bytes lie between the two weights.
SampleModel sample_model(std::int64_t gap = 0);

/// A graph that uses what a viewer may stumble over: packed weights, every kind of attribute, absent
/// optional inputs, equal and empty names, narrow dtypes, constants that the plan does not have.
SampleModel odd_model();

/// Every field of a plan as text, so that two plans can be compared and their difference read.
std::string describe(const plan::Plan& plan);

/// A fresh folder, removed with its contents at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::filesystem::path operator/(const char* name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Bytes of the written model.
Bytes write_to_bytes(const SampleModel& model, const TemporaryFolder& folder);

/// An owned copy that a test may spoil.
Bytes to_bytes(const std::string& text);
std::string to_text(const Bytes& bytes);

}  // namespace atc::om::test
