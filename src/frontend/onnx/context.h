#pragma once

#include <string>

#include "atc/base/status.h"

namespace atc::frontend {

/// What every diagnostic of one import needs.
struct Context {
  std::string file;  ///< the model as the user wrote it

  /// E10041 with its cause; `reason` says where in the model and what is wrong.
  Status fault(const std::string& reason) const {
    return Status::error("E10041", "failed to load the model from " + file + ": " + reason);
  }
};

}  // namespace atc::frontend
