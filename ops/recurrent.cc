#include "ops/recurrent.h"

#include <algorithm>

#include "ops/infer_checks.h"

namespace atc::ops {

namespace {

using namespace recurrent;

bool is_batch_first(const ir::Node& node) { return node.attrs.get_int("layout", 0) != 0; }

StatusOr<std::int64_t> direction_count(const ir::Node& node) {
  const std::string direction = node.attrs.get_string("direction", "forward");
  if (direction == "bidirectional") return std::int64_t{2};
  if (direction == "forward" || direction == "reverse") return std::int64_t{1};
  return InferContext(node).error("attribute direction is \"" + direction +
                                  "\", expected forward, reverse or bidirectional");
}

/// An input, when present and ranked, has this shape.
Status require_shape(const InferContext& ctx, std::size_t input, const ir::Shape& expected) {
  if (!ctx.has_input(input) || !ctx.ranked(input)) return {};
  const ir::Shape& shape = ctx.shape(input);
  bool fits = shape.size() == expected.size();
  for (std::size_t i = 0; fits && i < shape.size(); ++i) fits = !conflicts(shape[i], expected[i]);
  if (fits) return {};
  return ctx.input_error(input, "must have shape [" + ir::to_string(expected) + "]");
}

ir::Dim times(const ir::Dim& dim, std::int64_t factor) {
  return dim.known() ? ir::Dim::of(dim.value * factor) : ir::Dim::named("?");
}

RecurrentGeometry geometry_of(const ir::Node& node, const Dims& x, const Dims& r) {
  RecurrentGeometry g;
  const std::string direction = node.attrs.get_string("direction", "forward");
  g.directions = direction == "bidirectional" ? 2 : 1;
  g.first_is_reverse = direction == "reverse";
  g.batch_first = is_batch_first(node);
  g.sequence = x[g.batch_first ? 1 : 0];
  g.batch = x[g.batch_first ? 0 : 1];
  g.input = x[2];
  g.hidden = r[2];
  return g;
}

/// Offset of a state vector in a [directions, batch, hidden] tensor ([batch, directions, hidden]).
std::size_t state_offset(const RecurrentGeometry& g, std::int64_t direction, std::int64_t batch) {
  return static_cast<std::size_t>(
      (g.batch_first ? batch * g.directions + direction : direction * g.batch + batch) * g.hidden);
}
/// Offset of a step's output in Y: [sequence, directions, batch, hidden], batch-first
/// [batch, sequence, directions, hidden].
std::size_t output_offset(const RecurrentGeometry& g, std::int64_t t, std::int64_t direction,
                          std::int64_t batch) {
  return static_cast<std::size_t>((g.batch_first ? (batch * g.sequence + t) * g.directions + direction
                                                 : (t * g.directions + direction) * g.batch + batch) *
                                  g.hidden);
}
std::size_t input_offset(const RecurrentGeometry& g, std::int64_t t, std::int64_t batch) {
  return static_cast<std::size_t>((g.batch_first ? batch * g.sequence + t : t * g.batch + batch) * g.input);
}

std::vector<double> optional_doubles(const EvalContext& ctx, std::size_t input) {
  return ctx.has_input(input) ? to_doubles(ctx.input(input)) : std::vector<double>();
}

void add_product(const double* m, std::int64_t rows, std::int64_t columns, const double* x,
                 std::vector<double>& y) {
  for (std::int64_t i = 0; i < rows; ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < columns; ++j) sum += m[i * columns + j] * x[j];
    y[static_cast<std::size_t>(i)] += sum;
  }
}

}  // namespace

void RecurrentCell::input_part(int gate, const double* x, std::vector<double>& out) const {
  out.assign(w_bias.begin() + gate * hidden, w_bias.begin() + (gate + 1) * hidden);
  add_product(w + gate * hidden * input, hidden, input, x, out);
}

void RecurrentCell::add_recurrent_part(int gate, const double* h, std::vector<double>& out) const {
  add_product(r + gate * hidden * hidden, hidden, hidden, h, out);
  for (std::int64_t i = 0; i < hidden; ++i)
    out[static_cast<std::size_t>(i)] += r_bias[static_cast<std::size_t>(gate * hidden + i)];
}

RecurrentGeometry recurrent_geometry(const ir::Node& node) {
  return geometry_of(node, node.input(kX)->type.dims(), node.input(kR)->type.dims());
}

Status infer_recurrent(InferContext& ctx, int gates) {
  ATC_TRY(require_float(ctx, kX));
  for (std::size_t i : {kW, kR, kB, kInitialH, kInitialC, kPeephole}) ATC_TRY(require_same_dtype(ctx, i, kX));
  if (ctx.has_input(kLengths)) ATC_TRY(require_dtype(ctx, kLengths, {DType::I32}, "i32"));
  for (std::size_t i : {kX, kW, kR}) ATC_TRY(require_rank(ctx, i, 3, 3));
  ATC_ASSIGN(const std::int64_t directions, direction_count(ctx.node()));
  const bool batch_first = is_batch_first(ctx.node());

  const std::int64_t asked = ctx.node().attrs.get_int("hidden_size", -1);
  ir::Dim hidden = asked >= 0 ? ir::Dim::of(asked) : ctx.ranked(kR) ? ctx.shape(kR)[2] : ctx.unknown_dim();
  if (!hidden.known() && ctx.ranked(kR)) hidden = ctx.shape(kR)[2];
  const bool has_x = ctx.ranked(kX);
  const ir::Dim sequence = has_x ? ctx.shape(kX)[batch_first ? 1 : 0] : ctx.unknown_dim();
  const ir::Dim batch = has_x ? ctx.shape(kX)[batch_first ? 0 : 1] : ctx.unknown_dim();
  const ir::Dim input = has_x ? ctx.shape(kX)[2] : ctx.unknown_dim();
  const ir::Dim d = ir::Dim::of(directions);
  const ir::Shape state = batch_first ? ir::Shape{batch, d, hidden} : ir::Shape{d, batch, hidden};
  ATC_TRY(require_shape(ctx, kW, {d, times(hidden, gates), input}));
  ATC_TRY(require_shape(ctx, kR, {d, times(hidden, gates), hidden}));
  ATC_TRY(require_shape(ctx, kB, {d, times(hidden, 2 * gates)}));
  ATC_TRY(require_shape(ctx, kLengths, {batch}));
  ATC_TRY(require_shape(ctx, kInitialH, state));
  ATC_TRY(require_shape(ctx, kInitialC, state));
  ATC_TRY(require_shape(ctx, kPeephole, {d, times(hidden, 3)}));

  const ir::Shape y =
      batch_first ? ir::Shape{batch, sequence, d, hidden} : ir::Shape{sequence, d, batch, hidden};
  for (std::size_t i = 0; i < ctx.node().outputs().size(); ++i)
    if (ctx.node().output(i)) ctx.set_output(i, ctx.dtype(kX), i == 0 ? y : state);
  return {};
}

Status run_recurrent(EvalContext& ctx, int gates, const std::vector<std::string>& defaults,
                     const RecurrentStep& step) {
  const RecurrentGeometry g = geometry_of(ctx.node(), ctx.input(kX).shape, ctx.input(kR).shape);
  ATC_ASSIGN(const auto activations,
             recurrent_activations(ctx.node(), defaults, static_cast<std::size_t>(g.directions)));
  const DType dtype = ctx.input(kX).dtype;
  const std::vector<double> x = to_doubles(ctx.input(kX));
  const std::vector<double> w = to_doubles(ctx.input(kW));
  const std::vector<double> r = to_doubles(ctx.input(kR));
  const std::vector<double> bias = optional_doubles(ctx, kB);
  const std::vector<double> peephole = optional_doubles(ctx, kPeephole);
  const std::vector<std::int64_t> lengths =
      ctx.has_input(kLengths) ? to_int64s(ctx.input(kLengths))
                              : std::vector<std::int64_t>(static_cast<std::size_t>(g.batch), g.sequence);
  const std::int64_t rows = gates * g.hidden;
  const auto states = static_cast<std::size_t>(g.directions * g.batch * g.hidden);
  std::vector<double> last_h = optional_doubles(ctx, kInitialH);
  std::vector<double> last_c = optional_doubles(ctx, kInitialC);
  last_h.resize(states, 0.0);
  last_c.resize(states, 0.0);
  std::vector<double> y(states * static_cast<std::size_t>(g.sequence), 0.0);

  for (std::int64_t direction = 0; direction < g.directions; ++direction) {
    RecurrentCell cell;
    cell.input = g.input;
    cell.hidden = g.hidden;
    cell.w = w.data() + direction * rows * g.input;
    cell.r = r.data() + direction * rows * g.hidden;
    cell.w_bias.assign(static_cast<std::size_t>(rows), 0.0);
    cell.r_bias = cell.w_bias;
    if (!bias.empty()) {
      std::copy_n(bias.begin() + direction * 2 * rows, rows, cell.w_bias.begin());
      std::copy_n(bias.begin() + (direction * 2 + 1) * rows, rows, cell.r_bias.begin());
    }
    if (!peephole.empty()) cell.peephole = peephole.data() + direction * 3 * g.hidden;
    const auto first = activations.begin() + direction * std::ssize(defaults);
    cell.activations.assign(first, first + std::ssize(defaults));
    for (std::int64_t b = 0; b < g.batch; ++b) {
      const auto at = static_cast<std::ptrdiff_t>(state_offset(g, direction, b));
      std::vector<double> h(last_h.begin() + at, last_h.begin() + at + g.hidden);
      std::vector<double> c(last_c.begin() + at, last_c.begin() + at + g.hidden);
      const std::int64_t length =
          std::clamp<std::int64_t>(lengths[static_cast<std::size_t>(b)], 0, g.sequence);
      for (std::int64_t i = 0; i < length; ++i) {
        const std::int64_t t = g.is_reverse(direction) ? length - 1 - i : i;
        step(cell, x.data() + input_offset(g, t, b), h, c);
        std::copy(h.begin(), h.end(),
                  y.begin() + static_cast<std::ptrdiff_t>(output_offset(g, t, direction, b)));
      }
      std::copy(h.begin(), h.end(), last_h.begin() + at);
      std::copy(c.begin(), c.end(), last_c.begin() + at);
    }
  }

  const auto spell = [&](std::int64_t a, std::int64_t b, std::int64_t c) { return Dims{a, b, c, g.hidden}; };
  const Dims state =
      g.batch_first ? Dims{g.batch, g.directions, g.hidden} : Dims{g.directions, g.batch, g.hidden};
  const ir::Node& node = ctx.node();
  if (node.output(0))
    ctx.outputs[0] = from_doubles(
        dtype,
        g.batch_first ? spell(g.batch, g.sequence, g.directions) : spell(g.sequence, g.directions, g.batch),
        y);
  if (node.output(1)) ctx.outputs[1] = from_doubles(dtype, state, last_h);
  if (node.output(2)) ctx.outputs[2] = from_doubles(dtype, state, last_c);
  return {};
}

}  // namespace atc::ops
