#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "atc/base/status.h"
#include "atc/base/tensor.h"
#include "plan/plan.h"

namespace atc::om {

/// A model input or output as MODEL_INOUT_INFO tells it.
struct InOutTensor {
  std::string name;
  std::uint64_t size = 0;   ///< bytes
  std::int32_t format = 0;  ///< aclFormat
  std::int32_t dtype = 0;   ///< aclDataType
  Dims dims;
};
struct InOutInfo {
  std::vector<InOutTensor> inputs, outputs;
};

/// Section MODEL_INOUT_INFO of a plan: inputs, outputs and the order of the inputs' names. An ND input of
/// rank 4 or 5 is called NCHW or NCDHW when the plan's info "input_format" says so.
std::string encode_inout_info(const plan::Plan& plan);

/// E10041 when a block or a length leaves its bounds. Blocks of other types are skipped.
StatusOr<InOutInfo> decode_inout_info(std::span<const std::byte> section);

}  // namespace atc::om
