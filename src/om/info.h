#pragma once

#include <string>

#include "atc/base/bytes.h"
#include "atc/base/status.h"

namespace atc::om {

/// `atc --mode=6`: what a .om file says about itself, line by line as ATC prints it, then one line for
/// each input and output of the model (from MODEL_INOUT_INFO). Missing numbers print -1, missing texts
/// nothing. E10041 when the file is broken.
StatusOr<std::string> display_info(const Bytes& om_file);

}  // namespace atc::om
