#pragma once

#include <string>
#include <vector>

#include "driver/verify_run.h"

namespace atc::driver {

/// A CaseResult as text and back, to carry it from one process to another.
std::string encode_result(const CaseResult& result);
/// False when `text` is no encoded result.
bool decode_result(const std::string& text, CaseResult& result);

/// "PASS        name  abs 1e-07 rel 2e-06  reason"
std::string result_line(const CaseFolder& folder, const CaseResult& result);

struct VerifyTotals {
  int passed = 0, failed = 0, skipped = 0;  ///< ERROR counts as failed, UNSUPPORTED as skipped
  void add(CaseStatus status);
};
std::string totals_line(const VerifyTotals& totals);  ///< "N passed, N failed, N skipped"

/// The file of --json: schema_version, cases in order with all that CaseResult holds, totals. An infinite
/// error (NaN or Inf out of place, wrong shape) is null.
std::string verify_json(const VerifyOptions& options, const std::vector<CaseFolder>& folders,
                        const std::vector<CaseResult>& results, const VerifyTotals& totals);

}  // namespace atc::driver
