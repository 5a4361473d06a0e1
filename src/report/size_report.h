#pragma once

#include <nlohmann/json_fwd.hpp>

#include "om/writer.h"
#include "plan/plan.h"

namespace atc::report {

/// What the bytes of the .om are: each partition (MODEL_DEF holds the graph for viewers, TASK_INFO the tiled
/// tasks), weights by dtype and storage format, and the largest weights. Stretches that tensors share count
/// once.
nlohmann::json size_json(const plan::Plan& plan, const om::OmImage& image);

}  // namespace atc::report
