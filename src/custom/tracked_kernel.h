#pragma once

#include "atc/core_api.h"

namespace atc::custom {

/// The kernel, with signal stacks and its blocks known to the signal handlers (crash.h). One kernel at a
/// time: the table of an AI Core takes a plain function.
AtcKernel tracked(AtcKernel kernel);

}  // namespace atc::custom
