#include "ops/einsum.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string>

#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/reference_util.h"

namespace atc::ops {

namespace {

// Equation ------------------------------------------------------------------------------------------

/// A term as written: letters, and where among them the ellipsis is.
struct Term {
  std::string letters;
  std::optional<std::size_t> ellipsis;
};

/// nullopt when a character is out of place.
std::optional<Term> parse_term(std::string_view text) {
  Term term;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (std::isalpha(static_cast<unsigned char>(text[i]))) {
      term.letters += text[i];
    } else if (text.substr(i, 3) == "..." && !term.ellipsis) {
      term.ellipsis = term.letters.size();
      i += 2;
    } else {
      return std::nullopt;
    }
  }
  return term;
}

struct Terms {
  std::vector<Term> operands;
  std::optional<Term> output;  ///< absent in the implicit form
};

StatusOr<Terms> split_equation(const ir::Node& node) {
  std::string text = node.attrs.get_string("equation", {});
  std::erase(text, ' ');
  const auto malformed = [&] {
    return InferContext(node).error("equation \"" + text +
                                    "\" is malformed, expected terms of letters and one \"...\" each, as in "
                                    "\"...ij,...jk->...ik\"");
  };
  Terms terms;
  const std::size_t arrow = text.find("->");
  if (arrow != std::string::npos) {
    terms.output = parse_term(std::string_view(text).substr(arrow + 2));
    if (!terms.output) return malformed();
    std::string sorted = terms.output->letters;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) return malformed();
  }
  std::string_view rest = std::string_view(text).substr(0, arrow);
  while (true) {
    const std::size_t comma = rest.find(',');
    const auto term = parse_term(rest.substr(0, comma));
    if (!term) return malformed();
    terms.operands.push_back(*term);
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  return terms;
}

/// The implicit output: the ellipsis, then the letters that occur once, alphabetically.
Term implicit_output(const Terms& terms) {
  std::array<int, 128> uses{};
  Term out;
  for (const Term& term : terms.operands) {
    if (term.ellipsis) out.ellipsis = 0;
    for (char c : term.letters) ++uses[static_cast<std::size_t>(c)];
  }
  for (std::size_t c = 0; c < uses.size(); ++c)
    if (uses[c] == 1) out.letters += static_cast<char>(c);
  return out;
}

// Inference -----------------------------------------------------------------------------------------

Status infer_einsum(InferContext& ctx) {
  std::vector<std::size_t> ranks;
  for (std::size_t i = 0; i < ctx.input_count(); ++i) {
    ATC_TRY(require_dtype(ctx, i, kNumericTypes, "a numeric type"));
    ATC_TRY(require_same_dtype(ctx, i, 0));
    if (ctx.ranked(i)) ranks.push_back(ctx.shape(i).size());
  }
  if (ranks.size() != ctx.input_count()) {
    ctx.set_output(0, ctx.dtype(0), std::nullopt);
    return {};
  }
  ATC_ASSIGN(const EinsumEquation equation, parse_einsum(ctx.node(), ranks));
  std::vector<ir::Dim> sizes(static_cast<std::size_t>(equation.label_count), ir::Dim::of(1));
  for (std::size_t i = 0; i < ctx.input_count(); ++i)
    for (std::size_t axis = 0; axis < ranks[i]; ++axis) {
      ir::Dim& size = sizes[static_cast<std::size_t>(equation.operands[i][axis])];
      const ir::Dim& dim = ctx.shape(i)[axis];
      const std::optional<ir::Shape> joint = broadcast({size}, {dim});
      if (!joint)
        return ctx.input_error(
            i, "has size " + std::to_string(dim.value) + " on axis " + std::to_string(axis) +
                   ", where the equation's label already stands for " + std::to_string(size.value));
      size = (*joint)[0];
    }
  ir::Shape out;
  for (int label : equation.output) out.push_back(sizes[static_cast<std::size_t>(label)]);
  ctx.set_output(0, ctx.dtype(0), std::move(out));
  return {};
}

// Reference -----------------------------------------------------------------------------------------

/// Elements with one label an axis. T: double, or uint64_t for integers that wrap.
template <class T>
struct Labelled {
  std::vector<T> values;
  Dims shape;
  std::vector<int> labels;
};

/// Element step of each label in a tensor: 0 where it is absent or broadcast, summed where it repeats.
Dims label_strides(const Dims& shape, const std::vector<int>& labels, const Dims& sizes) {
  const Dims dense = row_major_strides(shape);
  Dims strides(sizes.size(), 0);
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const auto label = static_cast<std::size_t>(labels[axis]);
    if (shape[axis] == sizes[label]) strides[label] += dense[axis];
  }
  return strides;
}

/// Sum of a * b over every label that is not in `keep`.
template <class T>
Labelled<T> contract(const Labelled<T>& a, const Labelled<T>& b, const std::vector<int>& keep,
                     const Dims& sizes) {
  Labelled<T> y;
  y.labels = keep;
  for (int label : keep) y.shape.push_back(sizes[static_cast<std::size_t>(label)]);
  y.values.assign(static_cast<std::size_t>(element_count(y.shape)), T{});
  // Kept labels outside, summed ones inside.
  std::vector<int> order = keep;
  for (const auto* labels : {&a.labels, &b.labels})
    for (int label : *labels)
      if (std::find(order.begin(), order.end(), label) == order.end()) order.push_back(label);
  Dims space;
  std::vector<Dims> strides(3);
  const Dims by_label[] = {label_strides(a.shape, a.labels, sizes), label_strides(b.shape, b.labels, sizes),
                           label_strides(y.shape, y.labels, sizes)};
  for (int label : order) {
    space.push_back(sizes[static_cast<std::size_t>(label)]);
    for (std::size_t k = 0; k < 3; ++k) strides[k].push_back(by_label[k][static_cast<std::size_t>(label)]);
  }
  // The innermost label is a plain loop; the walk goes over the others.
  std::int64_t length = 1;
  std::int64_t step[3] = {};
  if (!space.empty()) {
    length = space.back();
    space.pop_back();
    for (std::size_t k = 0; k < 3; ++k) {
      step[k] = strides[k].back();
      strides[k].pop_back();
    }
  }
  for (StridedWalk w(space, strides); !w.done(); w.next()) {
    const T* pa = a.values.data() + w.offset(0);
    const T* pb = b.values.data() + w.offset(1);
    T* py = y.values.data() + w.offset(2);
    for (std::int64_t i = 0; i < length; ++i) py[i * step[2]] += pa[i * step[0]] * pb[i * step[1]];
  }
  return y;
}

/// Contracts operands from the left, keeping at each step only labels that are still needed.
template <class T, class Read>
Labelled<T> evaluate(const EvalContext& ctx, const EinsumEquation& equation, const Dims& sizes, Read read) {
  Labelled<T> sum{{T{1}}, {}, {}};
  for (std::size_t i = 0; i < ctx.input_count(); ++i) {
    const Labelled<T> operand{read(ctx.input(i)), ctx.input(i).shape, equation.operands[i]};
    std::vector<int> keep = equation.output;
    if (i + 1 < ctx.input_count()) {
      const auto is_needed = [&](int label) {
        bool needed = std::count(equation.output.begin(), equation.output.end(), label) > 0;
        for (std::size_t k = i + 1; k < ctx.input_count(); ++k)
          needed = needed || std::count(equation.operands[k].begin(), equation.operands[k].end(), label) > 0;
        return needed;
      };
      keep.clear();
      std::vector<int> candidates = sum.labels;
      candidates.insert(candidates.end(), operand.labels.begin(), operand.labels.end());
      for (int label : candidates)
        if (is_needed(label) && std::count(keep.begin(), keep.end(), label) == 0) keep.push_back(label);
    }
    sum = contract(sum, operand, keep, sizes);
  }
  return sum;
}

Status reference_einsum(EvalContext& ctx) {
  std::vector<std::size_t> ranks;
  for (std::size_t i = 0; i < ctx.input_count(); ++i) ranks.push_back(ctx.input(i).shape.size());
  ATC_ASSIGN(const EinsumEquation equation, parse_einsum(ctx.node(), ranks));
  Dims sizes(static_cast<std::size_t>(equation.label_count), 1);
  for (std::size_t i = 0; i < ctx.input_count(); ++i)
    for (std::size_t axis = 0; axis < ranks[i]; ++axis) {
      std::int64_t& size = sizes[static_cast<std::size_t>(equation.operands[i][axis])];
      const std::int64_t dim = ctx.input(i).shape[axis];
      if (size != dim && size != 1 && dim != 1) return ctx.error("operand sizes disagree on a label");
      if (size == 1) size = dim;
    }
  const DType dtype = ctx.input(0).dtype;
  if (is_integer(dtype)) {
    const auto y = evaluate<std::uint64_t>(ctx, equation, sizes, [](const Tensor& t) {
      const std::vector<std::int64_t> v = to_int64s(t);
      return std::vector<std::uint64_t>(v.begin(), v.end());
    });
    ctx.outputs[0] = from_int64s(dtype, y.shape, std::vector<std::int64_t>(y.values.begin(), y.values.end()));
  } else {
    const auto y = evaluate<double>(ctx, equation, sizes, to_doubles);
    ctx.outputs[0] = from_doubles(dtype, y.shape, y.values);
  }
  return {};
}

}  // namespace

StatusOr<EinsumEquation> parse_einsum(const ir::Node& node, const std::vector<std::size_t>& ranks) {
  const InferContext ctx(node);
  ATC_ASSIGN(const Terms terms, split_equation(node));
  if (terms.operands.size() != ranks.size())
    return ctx.error("the equation has " + std::to_string(terms.operands.size()) + " terms for " +
                     std::to_string(ranks.size()) + " inputs");
  // Ellipsis axes are aligned at the right; the longest ellipsis counts.
  std::size_t ellipsis_rank = 0;
  std::string letters;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const Term& term = terms.operands[i];
    if (ranks[i] < term.letters.size() || (!term.ellipsis && ranks[i] != term.letters.size()))
      return ctx.input_error(i, "has rank " + std::to_string(ranks[i]) +
                                    ", but its term in the equation has " +
                                    std::to_string(term.letters.size()) + " letters");
    if (term.ellipsis) ellipsis_rank = std::max(ellipsis_rank, ranks[i] - term.letters.size());
    letters += term.letters;
  }
  std::sort(letters.begin(), letters.end());
  letters.erase(std::unique(letters.begin(), letters.end()), letters.end());
  const auto labels_of = [&](const Term& term, std::size_t own_ellipsis_rank) {
    std::vector<int> labels;
    for (std::size_t k = 0; k <= term.letters.size(); ++k) {
      if (term.ellipsis == k)
        for (std::size_t e = ellipsis_rank - own_ellipsis_rank; e < ellipsis_rank; ++e)
          labels.push_back(static_cast<int>(e));
      if (k < term.letters.size())
        labels.push_back(static_cast<int>(ellipsis_rank + letters.find(term.letters[k])));
    }
    return labels;
  };
  EinsumEquation out;
  out.label_count = static_cast<int>(ellipsis_rank + letters.size());
  for (std::size_t i = 0; i < ranks.size(); ++i)
    out.operands.push_back(labels_of(terms.operands[i], ranks[i] - terms.operands[i].letters.size()));
  const Term output = terms.output ? *terms.output : implicit_output(terms);
  for (char c : output.letters)
    if (letters.find(c) == std::string::npos)
      return ctx.error("the equation's output letter '" + std::string(1, c) + "' is in no input term");
  out.output = labels_of(output, ellipsis_rank);
  return out;
}

void register_einsum(Registry& registry) {
  registry.add({.name = "Einsum",
                .since = 12,
                .attrs = {{"equation", AttrKind::String, true}},
                .inputs = {1, INT_MAX},
                .infer = infer_einsum,
                .reference = reference_einsum});
}

}  // namespace atc::ops
