#pragma once

#include <memory>

#include "plan/plan.h"
#include "runtime/prepared_plan.h"

namespace atc::runtime {

/// y = Relu(x) + w on the AI Core (two vector tasks, the middle value in the arena), then, on the AI CPU,
/// z = Add(y, y). x, w, y, z are f32[rows, 48]; outputs are y and z.
struct SamplePlan {
  explicit SamplePlan(std::int64_t rows);

  std::int64_t rows = 0;
  plan::Plan plan;
  Bytes weights;
  Tensor input;             ///< values from -1 to 1
  std::vector<float> y, z;  ///< what the outputs must be, bit by bit

  std::shared_ptr<const PreparedPlan> prepared() const;
};

/// A plan tensor f32[dims].
plan::PlanTensor plan_tensor(std::string name, plan::Space space, int index, std::int64_t offset, Dims dims);

}  // namespace atc::runtime
