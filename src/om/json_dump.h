#pragma once

#include <string>

#include "atc/base/bytes.h"
#include "atc/base/status.h"

namespace atc::om {

/// `atc --mode=1`: MODEL_DEF of a .om file as JSON. Keys are field names, sorted; fields with default
/// values are absent; enums are names, integers numbers, floats strings as %g prints them, bytes
/// C-escaped, maps lists of {"key", "value"}. Messages more than 20 levels deep are left out, and so are
/// the fields that hold weights, addresses and sizes of memory (output, data, data_offset, workspace,
/// workspace_bytes, memory_size, weight_size, size, bt, quantize_factor). An operation of a fused group
/// has the attribute group_op_name. E10041 when the file is broken.
StatusOr<std::string> dump_json(const Bytes& om_file);

}  // namespace atc::om
