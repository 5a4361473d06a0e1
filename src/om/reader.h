#pragma once

#include "atc/base/bytes.h"
#include "atc/base/status.h"
#include "plan/plan.h"

namespace atc::om {

/// A .om file ready to run. `weights` is a view into the file, 64-byte aligned in memory; it keeps the
/// mapping alive.
struct LoadedOm {
  plan::Plan plan;
  Bytes weights;
};

/// Takes a mapped file apart and checks all of it that running depends on: container, plan (through
/// plan::validate), extents of the weights. E10041 with the reason for any file that is not sound,
/// whatever its bytes.
StatusOr<LoadedOm> load_om(const Bytes& file);

}  // namespace atc::om
