#include "passes/strided_view.h"

#include <algorithm>

#include "ops/move.h"
#include "ops/op.h"
#include "ops/reference_util.h"

namespace atc::passes {
namespace {

using ir::Node;
using ir::Value;
using View = std::optional<StridedView>;

View transposed(const Node& n, StridedView v) {
  const std::size_t rank = v.dims.size();
  Dims perm = n.attrs.get_ints("perm");
  if (!n.attrs.has("perm"))
    for (std::size_t i = rank; i-- > 0;) perm.push_back(static_cast<std::int64_t>(i));
  if (perm.size() != rank) return std::nullopt;
  StridedView out = v;
  for (std::size_t i = 0; i < rank; ++i) {
    const auto axis = ops::normalize_axis(perm[i], static_cast<std::int64_t>(rank));
    if (!axis) return std::nullopt;
    out.dims[i] = v.dims[static_cast<std::size_t>(*axis)];
    out.strides[i] = v.strides[static_cast<std::size_t>(*axis)];
  }
  return out;
}

// The dims of the output say what is kept; starts and steps say where. Slice before opset 10 has attributes.
View sliced(const Node& n, StridedView v) {
  Dims starts, axes, steps;
  if (n.version < 10) {
    starts = n.attrs.get_ints("starts");
    axes = n.attrs.get_ints("axes");
  } else {
    const auto s = ops::constant_list(n, 1);
    if (!s) return std::nullopt;
    starts = *s;
    if (n.input(3) != nullptr) {
      const auto a = ops::constant_list(n, 3);
      if (!a) return std::nullopt;
      axes = *a;
    }
    if (n.input(4) != nullptr) {
      const auto a = ops::constant_list(n, 4);
      if (!a) return std::nullopt;
      steps = *a;
    }
  }
  for (std::size_t i = 0; axes.size() < starts.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  const Dims out = n.output(0)->type.dims();
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const auto axis = ops::normalize_axis(axes[i], std::ssize(v.dims));
    if (!axis) return std::nullopt;
    const std::size_t a = static_cast<std::size_t>(*axis);
    const std::int64_t step = i < steps.size() ? steps[i] : 1;
    if (step < 1) return std::nullopt;
    const std::int64_t start = starts[i] < 0 ? starts[i] + v.dims[a] : starts[i];
    v.offset += std::clamp<std::int64_t>(start, 0, v.dims[a]) * v.strides[a];
    v.dims[a] = out[a];
    v.strides[a] *= step;
  }
  return v;
}

View split(const Node& n, const Value* value, StridedView v) {
  const auto axis = ops::normalize_axis(n.attrs.get_int("axis", 0), std::ssize(v.dims));
  if (!axis) return std::nullopt;
  const std::size_t a = static_cast<std::size_t>(*axis);
  for (const Value* out : n.outputs()) {
    if (out == value) {
      v.dims[a] = out->type.dims()[a];
      return v;
    }
    if (out == nullptr || !out->type.is_static()) return std::nullopt;
    v.offset += out->type.dims()[a] * v.strides[a];
  }
  return std::nullopt;
}

View gathered(const Node& n, StridedView v) {
  const Value* index = n.input(1);
  if (!index->is_constant() || index->constant().count() != 1) return std::nullopt;
  const auto axis = ops::normalize_axis(n.attrs.get_int("axis", 0), std::ssize(v.dims));
  if (!axis) return std::nullopt;
  const std::size_t a = static_cast<std::size_t>(*axis);
  std::int64_t at = to_int64s(index->constant())[0];
  if (at < 0) at += v.dims[a];
  if (at < 0 || at >= v.dims[a]) return std::nullopt;
  v.offset += at * v.strides[a];
  const std::size_t kept = index->constant().shape.size();
  v.dims.erase(v.dims.begin() + *axis);
  v.strides.erase(v.strides.begin() + *axis);
  v.dims.insert(v.dims.begin() + *axis, kept, 1);
  v.strides.insert(v.strides.begin() + *axis, kept, 0);
  return v;
}

bool joins_one_value(const Node& n) {
  return n.is("Concat") &&
         std::all_of(n.inputs().begin(), n.inputs().end(), [&](const Value* v) { return v == n.input(0); });
}

// Axes of length 1 that the output repeats.
View repeated(const Node& n, StridedView v) {
  const Dims out = n.output(0)->type.dims();
  if (out.size() < v.dims.size()) return std::nullopt;
  v.dims.insert(v.dims.begin(), out.size() - v.dims.size(), 1);
  v.strides.insert(v.strides.begin(), out.size() - v.strides.size(), 0);
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (v.dims[i] == out[i]) continue;
    if (v.dims[i] != 1) return std::nullopt;
    v.dims[i] = out[i];
    v.strides[i] = 0;
  }
  return v;
}

bool is_reshape(const Node& n) {
  return n.is("Reshape") || n.is("Flatten") || n.is("Squeeze") || n.is("Unsqueeze");
}

// What `n` makes of a view of its input 0, as seen at its output `value`.
View apply(const Node& n, const Value* value, const StridedView& v) {
  if (is_reshape(n)) return reshaped(v, value->type.dims());
  if (n.is("Transpose")) return transposed(n, v);
  if (n.is("Slice")) return sliced(n, v);
  if (n.is("Split")) return split(n, value, v);
  if (n.is("Gather")) return gathered(n, v);
  if (n.is("Expand") || n.is("Tile") || joins_one_value(n)) return repeated(n, v);
  if (n.is("Identity")) return v;
  return std::nullopt;
}

bool looks_through(const Node& n) {
  return is_reshape(n) || n.is("Transpose") || n.is("Slice") || n.is("Split") || n.is("Gather") ||
         n.is("Expand") || n.is("Tile") || n.is("Identity") || joins_one_value(n);
}

}  // namespace

StridedView whole_view(Value* value) {
  StridedView v{value, 0, value->type.dims(), {}};
  v.strides = ops::row_major_strides(v.dims);
  return v;
}

std::optional<StridedView> reshaped(const StridedView& view, const Dims& dims) {
  // Dims of length 1 carry no stride. The others are matched in groups of equal products; within a group the
  // old dims must be walked as one.
  Dims old_dims, old_strides;
  for (std::size_t i = 0; i < view.dims.size(); ++i)
    if (view.dims[i] != 1) {
      old_dims.push_back(view.dims[i]);
      old_strides.push_back(view.strides[i]);
    }
  if (element_count(dims) != element_count(view.dims) || element_count(dims) == 0) return std::nullopt;
  StridedView out{view.base, view.offset, dims, Dims(dims.size(), 0)};
  std::size_t i = 0, j = 0;
  while (i < old_dims.size() || j < dims.size()) {
    if (j < dims.size() && dims[j] == 1) {
      ++j;
      continue;
    }
    if (i == old_dims.size() || j == dims.size()) return std::nullopt;
    std::int64_t old_product = old_dims[i], new_product = dims[j];
    std::size_t i1 = i + 1, j1 = j + 1;
    while (old_product != new_product) {
      if (old_product < new_product) {
        if (i1 == old_dims.size()) return std::nullopt;
        old_product *= old_dims[i1++];
      } else {
        if (j1 == dims.size()) return std::nullopt;
        new_product *= dims[j1++];
      }
    }
    for (std::size_t k = i; k + 1 < i1; ++k)
      if (old_strides[k] != old_strides[k + 1] * old_dims[k + 1]) return std::nullopt;
    std::int64_t stride = old_strides[i1 - 1];
    for (std::size_t k = j1; k-- > j;) {
      out.strides[k] = stride;
      stride *= dims[k];
    }
    i = i1;
    j = j1;
  }
  return out;
}

StridedView trace_view(Value* value) {
  // From the value back to what it could be a view of, then forward as far as strides go.
  std::vector<Value*> chain = {value};
  while (true) {
    const Value* v = chain.back();
    const Node* n = v->producer();
    if (n == nullptr || n->graph() != value->graph() || !looks_through(*n) || n->input(0) == nullptr) break;
    if (!n->input(0)->type.is_static() || !v->type.is_static()) break;
    chain.push_back(n->input(0));
  }
  StridedView view = whole_view(chain.back());
  for (std::size_t i = chain.size() - 1; i-- > 0;) {
    View next = apply(*chain[i]->producer(), chain[i], view);
    view = next ? *next : whole_view(chain[i]);
  }
  return view;
}

}  // namespace atc::passes
