#include "report/size_report.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

namespace atc::report {
namespace {

using nlohmann::json;

constexpr std::size_t kLargest = 10;

}  // namespace

json size_json(const plan::Plan& plan, const om::OmImage& image) {
  json partitions = json::array();
  partitions.push_back({{"name", "header"}, {"bytes", image.head.size()}});
  for (const om::SectionSize& s : image.sections)
    partitions.push_back(
        {{"name", om::section_name(static_cast<std::uint32_t>(s.section))}, {"bytes", s.size}});

  std::map<std::int64_t, const plan::PlanTensor*> by_offset;
  for (const plan::PlanTensor& t : plan.tensors) {
    if (t.space != plan::Space::Weight || t.bytes == 0) continue;
    const plan::PlanTensor*& known = by_offset[t.offset];
    if (known == nullptr || known->bytes < t.bytes) known = &t;
  }
  std::map<std::pair<std::string, std::string>, std::pair<std::int64_t, std::int64_t>> kinds;
  std::vector<const plan::PlanTensor*> largest;
  std::int64_t used = 0, end = 0;
  for (const auto& [offset, t] : by_offset) {
    auto& [count, bytes] = kinds[{std::string(onnx_name(t->dtype)), std::string(ir::name(t->format))}];
    ++count;
    bytes += t->bytes;
    used += std::max<std::int64_t>(0, offset + t->bytes - std::max(end, offset));
    end = std::max(end, offset + t->bytes);
    largest.push_back(t);
  }
  json weights = json::array();
  for (const auto& [kind, sum] : kinds)
    weights.push_back(
        {{"dtype", kind.first}, {"format", kind.second}, {"tensors", sum.first}, {"bytes", sum.second}});
  std::stable_sort(largest.begin(), largest.end(),
                   [](const auto* a, const auto* b) { return a->bytes > b->bytes; });
  largest.resize(std::min(largest.size(), kLargest));
  json top = json::array();
  for (const plan::PlanTensor* t : largest)
    top.push_back({{"name", t->name},
                   {"dtype", onnx_name(t->dtype)},
                   {"format", ir::name(t->format)},
                   {"shape", t->shape},
                   {"bytes", t->bytes}});
  return {{"file_bytes", image.file_bytes()},
          {"partitions", std::move(partitions)},
          {"weights", std::move(weights)},
          {"weight_padding_bytes", plan.weight_bytes - used},
          {"largest_weights", std::move(top)}};
}

}  // namespace atc::report
