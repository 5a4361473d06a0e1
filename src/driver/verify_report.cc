#include "driver/verify_report.h"

#include <cmath>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>

#include "atc/base/strings.h"

namespace atc::driver {
namespace {

using nlohmann::json;

/// JSON has no infinity: null stands for it.
json number(double v) { return std::isfinite(v) ? json(v) : json(); }
double number_from(const json& j) {
  return j.is_null() ? std::numeric_limits<double>::infinity() : j.get<double>();
}

json result_json(const CaseResult& r) {
  return {{"status", std::string(name(r.status))},
          {"reason", r.reason},
          {"max_abs", number(r.max_abs)},
          {"max_rel", number(r.max_rel)},
          {"min_cosine", number(r.min_cosine)},
          {"beyond_steps", r.beyond_steps},
          {"compile_ms", r.compile_ms},
          {"run_ms", r.run_ms}};
}

std::string dump(const json& j, int indent) {
  return j.dump(indent, ' ', false, json::error_handler_t::replace);
}

}  // namespace

std::string encode_result(const CaseResult& result) { return dump(result_json(result), -1); }

bool decode_result(const std::string& text, CaseResult& result) {
  const json j = json::parse(text, nullptr, false);
  if (!j.is_object()) return false;
  try {
    const std::string status = j.at("status").get<std::string>();
    bool known = false;
    for (const CaseStatus s :
         {CaseStatus::Pass, CaseStatus::Fail, CaseStatus::Unsupported, CaseStatus::Error})
      if (name(s) == status) {
        result.status = s;
        known = true;
      }
    result.reason = j.at("reason").get<std::string>();
    result.max_abs = number_from(j.at("max_abs"));
    result.max_rel = number_from(j.at("max_rel"));
    result.min_cosine = number_from(j.at("min_cosine"));
    result.beyond_steps = j.at("beyond_steps").get<double>();
    result.compile_ms = j.at("compile_ms").get<double>();
    result.run_ms = j.at("run_ms").get<double>();
    return known;
  } catch (const json::exception&) {
    return false;
  }
}

std::string result_line(const CaseFolder& folder, const CaseResult& r) {
  char errors[64];
  std::snprintf(errors, sizeof errors, "abs %-9.3g rel %-9.3g", r.max_abs, r.max_rel);
  std::string status(name(r.status));
  status.resize(12, ' ');
  std::string label = folder.name;
  if (label.size() < 40) label.resize(40, ' ');
  std::string line = status + label + "  " + errors;
  if (!r.reason.empty()) line += "  " + printable(r.reason);
  while (line.ends_with(' ')) line.pop_back();
  return line;
}

void VerifyTotals::add(CaseStatus status) {
  switch (status) {
    case CaseStatus::Pass:
      ++passed;
      break;
    case CaseStatus::Unsupported:
      ++skipped;
      break;
    case CaseStatus::Fail:
    case CaseStatus::Error:
      ++failed;
      break;
  }
}

std::string totals_line(const VerifyTotals& t) {
  return std::to_string(t.passed) + " passed, " + std::to_string(t.failed) + " failed, " +
         std::to_string(t.skipped) + " skipped";
}

std::string verify_json(const VerifyOptions& options, const std::vector<CaseFolder>& folders,
                        const std::vector<CaseResult>& results, const VerifyTotals& totals) {
  json cases = json::array();
  for (std::size_t i = 0; i < results.size(); ++i) {
    json one = result_json(results[i]);
    one["name"] = folders[i].name;
    one["path"] = folders[i].path.string();
    cases.push_back(std::move(one));
  }
  const json all = {{"schema_version", 1},
                    {"soc_version", options.soc_version},
                    {"precision", options.precision},
                    {"atc", options.atc},
                    {"cases", cases},
                    {"passed", totals.passed},
                    {"failed", totals.failed},
                    {"skipped", totals.skipped}};
  return dump(all, 2) + "\n";
}

}  // namespace atc::driver
