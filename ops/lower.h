#pragma once

#include <optional>
#include <string>
#include <vector>

#include "atc/base/status.h"
#include "atc/ir/graph.h"
#include "kernels/task.h"
#include "soc/chip.h"

namespace atc::ops {

/// What lowering sees of one node, and where it puts tasks. All types are static here and formats are
/// chosen. Implemented by the plan builder.
class LowerContext {
 public:
  virtual ~LowerContext() = default;

  virtual const ir::Node& node() const = 0;
  virtual const soc::Chip& chip() const = 0;

  /// The whole storage of a value as a task operand.
  virtual kernels::Operand read(const ir::Value* value) = 0;
  virtual kernels::Operand write(const ir::Value* value) = 0;
  /// A table or repacked weight that the node needs, stored with the weights under `name`.
  virtual kernels::Operand constant(const std::string& name, const Tensor& tensor) = 0;
  /// Scratch in Global Memory that lives from the node's first task that uses it to its last.
  virtual kernels::Operand workspace(DType dtype, std::int64_t bytes) = 0;
  /// Makes output `out` an alias of `of` (same bytes in Global Memory): no task.
  virtual void alias(const ir::Value* out, const ir::Value* of) = 0;

  /// Appends a task. `label` names the operator in reports when it is not the node's own type.
  virtual void emit(kernels::Task task, std::string label = {}) = 0;
};

/// Static dims of a value (logical shape) and of its storage.
Dims logical_dims(const ir::Value* value);
Dims storage_dims_of(const ir::Value* value);
/// A user-level refusal of a node that cannot be lowered on this chip: E10055 with the node's label.
Status cannot_lower(const ir::Node& node, std::string why);

}  // namespace atc::ops
