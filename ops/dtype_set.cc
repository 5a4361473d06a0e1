#include "ops/dtype_set.h"

#include <algorithm>
#include <string>

#include "kernels/vector_program.h"

namespace atc::ops {

Status require_dtype(const InferContext& ctx, std::size_t i, DTypeSet allowed, std::string_view what) {
  const DType t = ctx.dtype(i);
  if (t == DType::Undefined || allowed.has(t)) return {};
  return ctx.input_error(i, "must be of " + std::string(what) + ", found " + std::string(name(t)));
}

bool has_vector_types(const ir::Node& node) {
  auto fits = [](const ir::Value* v) {
    return v == nullptr || kernels::reg_type_of(v->type.dtype).has_value();
  };
  return std::ranges::all_of(node.inputs(), fits) && std::ranges::all_of(node.outputs(), fits);
}

}  // namespace atc::ops
