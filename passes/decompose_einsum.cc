#include "passes/decompose_einsum.h"

#include <algorithm>

#include "ops/einsum.h"
#include "ops/reduce.h"
#include "passes/node_writer.h"
#include "passes/rewrite.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;
using Labels = std::vector<int>;

bool has(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

Labels joined(std::initializer_list<Labels> parts) {
  Labels all;
  for (const Labels& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

/// A tensor whose axes have labels, each one once. Axes of one element have none: they broadcast.
struct Term {
  Value* value = nullptr;
  Labels labels;
};

class EinsumWriter {
 public:
  EinsumWriter(Graph& graph, Node& node, Dims sizes)
      : node_(node), writer_(graph, node), sizes_(std::move(sizes)), dtype_(node.output(0)->type.dtype) {}

  void write(const ops::EinsumEquation& equation) {
    Term sum;
    for (std::size_t i = 0; i < equation.operands.size(); ++i) {
      Labels needed = equation.output;
      for (std::size_t k = i + 1; k < equation.operands.size(); ++k)
        needed = joined({needed, equation.operands[k]});
      const Term term = operand(node_.input(i), equation.operands[i], "operand" + std::to_string(i));
      step_ = "step" + std::to_string(i);
      sum = i == 0 ? summed(term, needed, step_ + "_sum") : contracted(sum, term, needed);
    }
    Labels order;
    for (int label : equation.output)
      if (has(sum.labels, label)) order.push_back(label);
    Value* y = ordered(sum, order, "output_order").value;
    y = writer_.reshape(y, node_.output(0)->type.dims(), "output_axes");
    // An equation that changes nothing, of an input of the model.
    if (!can_replace(node_.output(0), y)) y = writer_.unary("Identity", y, "output");
    writer_.finish(y);
  }

 private:
  std::int64_t size(int label) const { return sizes_[static_cast<std::size_t>(label)]; }
  Dims dims_of(const Labels& labels) const {
    Dims dims;
    for (int label : labels) dims.push_back(size(label));
    return dims;
  }
  std::int64_t count_of(const Labels& labels) const { return element_count(dims_of(labels)); }
  Value* insert(const char* type, std::vector<Value*> inputs, const Dims& dims, const std::string& suffix) {
    return writer_.insert(type, std::move(inputs), ir::tensor_type(dtype_, dims), suffix)->output(0);
  }

  /// Without axes of one element, and with each label once.
  Term operand(Value* x, const Labels& labels, const std::string& suffix) {
    Term t;
    const Dims dims = x->type.dims();
    for (std::size_t i = 0; i < labels.size(); ++i)
      if (dims[i] != 1) t.labels.push_back(labels[i]);
    t.value = writer_.reshape(x, dims_of(t.labels), suffix);
    for (std::size_t i = 0; i < t.labels.size();) {
      const int label = t.labels[i];
      if (std::count(t.labels.begin(), t.labels.end(), label) == 1)
        ++i;
      else
        t = without_repetition(t, label, suffix + "_diagonal" + std::to_string(label));
    }
    return t;
  }

  /// Axes of one label become the last ones, and these one axis, of which every (1 + n + n*n + ...)-th
  /// element is on the diagonal.
  Term without_repetition(const Term& t, int label, const std::string& suffix) {
    Dims perm, rest_perm;
    Labels rest;
    std::int64_t step = 0, length = 1;
    for (std::size_t i = 0; i < t.labels.size(); ++i) {
      if (t.labels[i] != label) {
        perm.push_back(static_cast<std::int64_t>(i));
        rest.push_back(t.labels[i]);
        continue;
      }
      rest_perm.push_back(static_cast<std::int64_t>(i));
      step += length;
      length *= size(label);
    }
    perm.insert(perm.end(), rest_perm.begin(), rest_perm.end());
    Dims flat = dims_of(rest);
    Value* x =
        writer_.reshape(transposed(t.value, perm, suffix + "_last"), with(flat, length), suffix + "_flat");
    Value* y = insert(
        "Slice",
        {x, writer_.int64s({0}, suffix + "_start"), writer_.int64s({length}, suffix + "_end"),
         writer_.int64s({std::ssize(rest)}, suffix + "_axis"), writer_.int64s({step}, suffix + "_step")},
        with(flat, size(label)), suffix);
    return {y, joined({rest, {label}})};
  }
  static Dims with(Dims dims, std::int64_t last) {
    dims.push_back(last);
    return dims;
  }

  Value* transposed(Value* x, const Dims& perm, const std::string& suffix) {
    if (std::is_sorted(perm.begin(), perm.end())) return x;
    const Dims from = x->type.dims();
    Dims dims;
    for (std::int64_t p : perm) dims.push_back(from[static_cast<std::size_t>(p)]);
    Node* n = writer_.insert("Transpose", {x}, ir::tensor_type(dtype_, dims), suffix);
    n->attrs.set("perm", perm);
    return n->output(0);
  }

  Term ordered(const Term& t, const Labels& order, const std::string& suffix) {
    Dims perm;
    for (int label : order)
      perm.push_back(std::find(t.labels.begin(), t.labels.end(), label) - t.labels.begin());
    return {transposed(t.value, perm, suffix), order};
  }

  /// Sums the labels away that are not needed.
  Term summed(const Term& t, const Labels& needed, const std::string& suffix) {
    Dims axes;
    Term out;
    for (std::size_t i = 0; i < t.labels.size(); ++i)
      if (has(needed, t.labels[i]))
        out.labels.push_back(t.labels[i]);
      else
        axes.push_back(static_cast<std::int64_t>(i));
    if (axes.empty()) return t;
    Node* n =
        writer_.insert("ReduceSum", {t.value, writer_.int64s(axes, suffix + "_axes")},
                       ir::tensor_type(dtype_, ops::reduced_shape(t.value->type.dims(), axes, true)), suffix);
    n->attrs.set("keepdims", std::int64_t{1});
    out.value = writer_.reshape(n->output(0), dims_of(out.labels), suffix + "_axes_dropped");
    return out;
  }

  Term contracted(const Term& left, const Term& right, const Labels& needed) {
    const Term a = summed(left, joined({needed, right.labels}), step_ + "_left_sum");
    const Term b = summed(right, joined({needed, left.labels}), step_ + "_right_sum");
    Labels shared, inner, rows, columns;
    for (int label : a.labels)
      (!has(b.labels, label) ? rows : has(needed, label) ? shared : inner).push_back(label);
    for (int label : b.labels)
      if (!has(a.labels, label)) columns.push_back(label);
    const Labels all = joined({shared, rows, columns});
    if (inner.empty()) return {product(a, b, all), all};
    if (rows.empty() && columns.empty()) {
      const Labels terms = joined({shared, inner});
      return summed({product(a, b, terms), terms}, shared, step_ + "_dot");
    }
    const Dims batch = dims_of(shared);
    Value* x = matrix(ordered(a, joined({shared, rows, inner}), step_ + "_left_order").value, batch, rows,
                      inner, step_ + "_left");
    Value* y = matrix(ordered(b, joined({shared, inner, columns}), step_ + "_right_order").value, batch,
                      inner, columns, step_ + "_right");
    Value* z =
        insert("MatMul", {x, y}, with(with(batch, count_of(rows)), count_of(columns)), step_ + "_product");
    return {writer_.reshape(z, dims_of(all), step_ + "_axes"), all};
  }

  Value* matrix(Value* x, const Dims& batch, const Labels& rows, const Labels& columns,
                const std::string& suffix) {
    return writer_.reshape(x, with(with(batch, count_of(rows)), count_of(columns)), suffix);
  }

  /// a * b with the axes of `all`: each operand has ones where it lacks a label.
  Value* product(const Term& a, const Term& b, const Labels& all) {
    const auto spread = [&](const Term& t, const std::string& suffix) {
      Labels order;
      Dims dims;
      for (int label : all) {
        dims.push_back(has(t.labels, label) ? size(label) : 1);
        if (has(t.labels, label)) order.push_back(label);
      }
      return writer_.reshape(ordered(t, order, suffix + "_order").value, dims, suffix);
    };
    Value* x = spread(a, step_ + "_left");
    Value* y = spread(b, step_ + "_right");
    return insert("Mul", {x, y}, dims_of(all), step_ + "_product");
  }

  Node& node_;
  NodeWriter writer_;
  Dims sizes_;
  DType dtype_;
  std::string step_;
};

}  // namespace

bool expand_einsum(Graph& graph, Node& n) {
  if (!n.is("Einsum")) return false;
  const DType dtype = n.output(0)->type.dtype;
  if (dtype != DType::F32 && dtype != DType::F16 && dtype != DType::BF16) return false;
  std::vector<std::size_t> ranks;
  for (const Value* x : n.inputs()) {
    if (element_count(x->type.dims()) == 0) return false;
    ranks.push_back(x->type.dims().size());
  }
  const auto equation = ops::parse_einsum(n, ranks);
  if (!equation.ok()) return false;
  Dims sizes(static_cast<std::size_t>(equation->label_count), 1);
  for (std::size_t i = 0; i < ranks.size(); ++i)
    for (std::size_t axis = 0; axis < ranks[i]; ++axis) {
      std::int64_t& size = sizes[static_cast<std::size_t>(equation->operands[i][axis])];
      size = std::max(size, n.input(i)->type.dims()[axis]);
    }
  EinsumWriter(graph, n, std::move(sizes)).write(*equation);
  return true;
}

}  // namespace atc::passes
