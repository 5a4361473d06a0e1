#include <algorithm>
#include <limits>

#include "atc/base/math.h"
#include "kernels/gather.h"
#include "kernels/vector_program.h"
#include "ops/grid_sample.h"
#include "ops/move.h"
#include "ops/reference_util.h"

// GridSample on the AI Core: a vector program turns coordinates into positions in the plane and weights, one
// gather a combination of taps fetches their elements, a second program adds them up.
namespace atc::ops {
namespace {

using kernels::Operand;
using kernels::RegType;
using kernels::VecOp;
using kernels::VectorProgram;
using kernels::VectorSpace;

constexpr std::int64_t kMaxCombinations = 16;

std::int64_t taps_of(GridMode mode) {
  return mode == GridMode::Nearest ? 1 : mode == GridMode::Linear ? 2 : 4;
}

std::int64_t combinations(GridMode mode, std::size_t rank) {
  std::int64_t n = 1;
  for (std::size_t i = 0; i < rank; ++i) n *= taps_of(mode);
  return n;
}

/// The tensors of a node: x [batch, channels, plane], grid [batch, points, rank].
struct Problem {
  GridOptions options;
  Dims spatial;
  std::int64_t batch, channels, plane, points;
};

Problem problem_of(const ir::Node& node) {
  const Dims x = node.input(0)->type.dims(), grid = node.input(1)->type.dims();
  Problem p{*grid_options(node), Dims(x.begin() + 2, x.end()), x[0], x[1], 1, 1};
  p.plane = element_count(p.spatial);
  p.points = element_count(Dims(grid.begin() + 1, grid.end() - 1));
  return p;
}

/// f32 expressions of a program, written as formulas.
class Floats {
 public:
  explicit Floats(VectorProgram& p) : p_(p) {}
  int value(double v) { return p_.constant(RegType::F32, v); }
  int op(VecOp o, int a, int b) { return p_.emit(o, RegType::F32, a, b); }
  int op(VecOp o, int a) { return p_.emit(o, RegType::F32, a); }
  int plus(int a, double b) { return b == 0 ? a : op(VecOp::Add, a, value(b)); }
  int times(int a, double b) { return b == 1 ? a : op(VecOp::Mul, a, value(b)); }
  int clamp(int x, double low, double high) {
    return op(VecOp::Min, op(VecOp::Max, x, value(low)), value(high));
  }
  int inside(int x, double low, double high) {
    return p_.emit(VecOp::And, RegType::B8, op(VecOp::GreaterEqual, x, value(low)),
                   op(VecOp::LessEqual, x, value(high)));
  }
  int select(int condition, int a, int b) { return p_.emit(VecOp::Select, RegType::F32, a, b, condition); }

 private:
  VectorProgram& p_;
};

/// One axis of the data: from coordinates in [-1, 1] to taps.
class AxisProgram {
 public:
  AxisProgram(VectorProgram& p, const GridOptions& options, std::int64_t size)
      : p_(p),
        f_(p),
        options_(options),
        size_(static_cast<double>(size)),
        low_(options.align_corners ? 0.0 : -0.5),
        high_(options.align_corners ? size_ - 1 : size_ - 0.5) {}

  struct Tap {
    int position;  // f32, whole
    int valid;     // B8, -1 when always
    int weight;    // f32, -1 when 1
  };

  std::vector<Tap> taps(int coordinate) {
    int x = f_.plus(coordinate, 1);
    if (options_.align_corners)
      x = f_.times(f_.times(x, 0.5), size_ - 1);
    else
      x = f_.times(f_.plus(f_.times(x, size_), -1), 0.5);
    // Far outside is outside; the bound keeps positions representable, and NaN reads the first element.
    constexpr double kFar = 1 << 30;
    const int nan = p_.emit(VecOp::IsNaN, RegType::F32, x);
    x = f_.select(nan, f_.value(low_ - 1), f_.clamp(x, -kFar, kFar));
    if (options_.mode == GridMode::Nearest) x = f_.op(VecOp::RoundEven, x);
    if (options_.padding == Padding::Border)
      x = f_.select(f_.inside(x, low_, high_), x, f_.clamp(x, 0, size_ - 1));
    if (options_.padding == Padding::Reflection) x = reflect(x);
    if (options_.mode == GridMode::Nearest) return {tap(f_.op(VecOp::RoundEven, x), -1)};
    const int base = f_.op(VecOp::Floor, x);
    const int fraction = f_.op(VecOp::Sub, x, base);
    const int reach = static_cast<int>(taps_of(options_.mode)) / 2;
    std::vector<Tap> out;
    for (int k = 1 - reach; k <= reach; ++k) out.push_back(tap(f_.plus(base, k), weight(fraction, k)));
    return out;
  }

 private:
  // Mirrored into [low, high] as often as it takes.
  int reflect(int x) {
    const double range = high_ - low_;
    if (range <= 0) return f_.value(low_);
    const int before = f_.op(VecOp::Less, x, f_.value(low_));
    const int distance = f_.select(before, f_.op(VecOp::Sub, f_.value(low_), x), f_.plus(x, -high_));
    const int turns = f_.op(VecOp::Floor, f_.op(VecOp::Div, distance, f_.value(range)));
    const int rest = f_.op(VecOp::Sub, distance, f_.times(turns, range));
    const int half = f_.times(turns, 0.5);
    const int even = f_.op(VecOp::Equal, half, f_.op(VecOp::Floor, half));
    // Before the data an even number of turns counts from low, behind it from high.
    const int from_low = p_.emit(VecOp::Equal, RegType::B8, before, even);
    const int mirrored = f_.select(from_low, f_.plus(rest, low_), f_.op(VecOp::Sub, f_.value(high_), rest));
    return f_.select(f_.inside(x, low_, high_), x, mirrored);
  }

  Tap tap(int position, int weight) {
    if (options_.padding == Padding::Border) position = f_.clamp(position, 0, size_ - 1);
    if (options_.padding == Padding::Reflection) position = f_.clamp(reflect(position), 0, size_ - 1);
    return {position, options_.padding == Padding::Zeros ? f_.inside(position, 0, size_ - 1) : -1, weight};
  }

  // Of the tap at floor(x) + k, x being `fraction` behind floor(x).
  int weight(int fraction, int k) {
    if (options_.mode == GridMode::Linear)
      return k == 1 ? fraction : f_.op(VecOp::Sub, f_.value(1), fraction);
    constexpr double kA = -0.75;  // Keys' cubic, as ONNX has it
    const int d = f_.op(VecOp::Abs, f_.plus(fraction, -k));
    auto horner = [&](double a, double b, double c, double e) {
      int y = f_.plus(f_.times(d, a), b);
      y = f_.plus(f_.op(VecOp::Mul, y, d), c);
      return f_.plus(f_.op(VecOp::Mul, y, d), e);
    };
    return k == 0 || k == 1 ? horner(kA + 2, -(kA + 3), 0, 1) : horner(kA, -5 * kA, 8 * kA, -4 * kA);
  }

  VectorProgram& p_;
  Floats f_;
  GridOptions options_;
  double size_, low_, high_;
};

/// A stretch of a workspace, `bytes` long.
Operand part(Operand workspace, std::int64_t index, std::int64_t bytes, bool output) {
  workspace.offset = index * bytes;
  workspace.bytes = bytes;
  workspace.output = output;
  return workspace;
}

struct Sampled {
  std::vector<Operand> positions;             // one a combination, I32 [batch, points]
  std::vector<std::vector<Operand>> weights;  // by axis and tap, F32 [batch, points]
};

/// The task that makes positions and weights of all points.
StatusOr<Sampled> emit_positions(LowerContext& ctx, const Problem& q) {
  const std::int64_t rank = std::ssize(q.spatial), taps = taps_of(q.options.mode);
  const std::int64_t sets = combinations(q.options.mode, q.spatial.size());
  const auto count = checked_mul(q.batch, q.points);
  const auto bytes = count ? checked_mul(*count, std::int64_t{4}) : std::nullopt;
  const auto all = bytes ? checked_mul(*bytes, std::max(sets, rank * taps)) : std::nullopt;
  if (!all) return cannot_lower(ctx.node(), "has more points than 64 bits count");
  const Operand positions = ctx.workspace(DType::I32, sets * *bytes);
  const bool weighted = taps > 1;
  const Operand weights = weighted ? ctx.workspace(DType::F32, rank * taps * *bytes) : Operand{};

  VectorProgram p;
  VectorSpace space;
  space.dims = {*count};
  std::vector<Operand> operands;
  auto operand = [&](const Operand& o, std::int64_t offset, std::int64_t stride) {
    operands.push_back(o);
    space.offsets.push_back(offset);
    space.strides.push_back({stride});
    return static_cast<int>(operands.size()) - 1;
  };
  Sampled out;
  std::vector<std::vector<AxisProgram::Tap>> axes;
  const Operand grid = ctx.read(ctx.node().input(1));
  for (std::int64_t a = 0; a < rank; ++a) {
    // The last axis comes first.
    const int coordinate = p.load(operand(grid, rank - 1 - a, rank), RegType::F32);
    axes.push_back(AxisProgram(p, q.options, q.spatial[static_cast<std::size_t>(a)]).taps(coordinate));
    out.weights.emplace_back();
    for (std::int64_t t = 0; weighted && t < taps; ++t) {
      const Operand w = part(weights, a * taps + t, *bytes, true);
      p.store(operand(w, 0, 1), RegType::F32, axes.back()[static_cast<std::size_t>(t)].weight);
      out.weights.back().push_back(part(weights, a * taps + t, *bytes, false));
    }
  }
  const Dims strides = row_major_strides(q.spatial);
  const int outside = p.constant(RegType::I32, static_cast<double>(q.plane));
  for (std::int64_t c = 0; c < sets; ++c) {
    int sum = -1, valid = -1;
    for (std::int64_t a = rank, rest = c; a-- > 0; rest /= taps) {
      const AxisProgram::Tap& tap = axes[static_cast<std::size_t>(a)][static_cast<std::size_t>(rest % taps)];
      int at = tap.position;
      if (tap.valid >= 0) {
        at = p.emit(VecOp::Select, RegType::F32, at, p.constant(RegType::F32, 0), tap.valid);
        valid = valid < 0 ? tap.valid : p.emit(VecOp::And, RegType::B8, valid, tap.valid);
      }
      at = p.emit(VecOp::Cast, RegType::I32, at);
      const double stride = static_cast<double>(strides[static_cast<std::size_t>(a)]);
      if (stride != 1) at = p.emit(VecOp::Mul, RegType::I32, at, p.constant(RegType::I32, stride));
      sum = sum < 0 ? at : p.emit(VecOp::Add, RegType::I32, sum, at);
    }
    // A position behind the plane reads zero.
    if (valid >= 0) sum = p.emit(VecOp::Select, RegType::I32, sum, outside, valid);
    p.store(operand(part(positions, c, *bytes, true), 0, 1), RegType::I32, sum);
    out.positions.push_back(part(positions, c, *bytes, false));
  }
  ATC_ASSIGN(kernels::Task task, kernels::make_vector_task(p, space, std::move(operands), ctx.chip()));
  ctx.emit(std::move(task), "GridSample/positions");
  return out;
}

Status emit_fetch(LowerContext& ctx, const Problem& q, const Operand& positions, const Operand& to) {
  const Operand x = ctx.read(ctx.node().input(0));
  kernels::GatherSpec s;
  s.element_bytes = bit_width(x.dtype) / 8;
  s.batch = q.batch;
  s.outer = q.channels;
  s.axis = q.plane;
  s.count = q.points;
  ATC_ASSIGN(kernels::Task task, kernels::make_gather(s, {x, positions, to}, ctx.chip()));
  ctx.emit(std::move(task));
  return {};
}

}  // namespace

bool lowers_grid_sample(const ir::Node& node) {
  const auto options = grid_options(node);
  if (!options.ok()) return false;
  const Dims x = node.input(0)->type.dims();
  const std::int64_t plane = element_count(Dims(x.begin() + 2, x.end()));
  const bool floats = kernels::reg_type_of(node.input(0)->type.dtype) == RegType::F32 &&
                      kernels::reg_type_of(node.input(1)->type.dtype) == RegType::F32;
  // Positions along an axis are f32 before they are i32.
  constexpr std::int64_t kWholeFloats = 1 << 24;
  const bool short_axes = std::all_of(x.begin() + 2, x.end(), [&](auto d) { return d <= kWholeFloats; });
  return floats && short_axes && plane > 0 && plane < std::numeric_limits<std::int32_t>::max() &&
         combinations(options->mode, x.size() - 2) <= kMaxCombinations;
}

Status lower_grid_sample(LowerContext& ctx) {
  const ir::Node& n = ctx.node();
  const Problem q = problem_of(n);
  ATC_ASSIGN(const Sampled sampled, emit_positions(ctx, q));
  const Operand out = ctx.write(n.output(0));
  if (q.options.mode == GridMode::Nearest) return emit_fetch(ctx, q, sampled.positions[0], out);

  VectorProgram p;
  VectorSpace space;
  space.dims = {q.batch, q.channels, q.points};
  const Dims dense = row_major_strides(space.dims), shared = {q.points, 0, 1};
  std::vector<Operand> operands;
  auto load = [&](Operand o, const Dims& strides) {
    o.output = false;
    operands.push_back(o);
    space.strides.push_back(strides);
    return p.load(static_cast<int>(operands.size()) - 1, RegType::F32);
  };
  std::vector<std::vector<int>> weights;
  for (const std::vector<Operand>& axis : sampled.weights) {
    weights.emplace_back();
    for (const Operand& w : axis) weights.back().push_back(load(w, shared));
  }
  const std::int64_t taps = taps_of(q.options.mode);
  int sum = -1;
  for (std::size_t c = 0; c < sampled.positions.size(); ++c) {
    const Operand fetched = ctx.workspace(out.dtype, out.bytes);
    ATC_TRY(emit_fetch(ctx, q, sampled.positions[c], fetched));
    int x = load(fetched, dense);
    std::int64_t rest = static_cast<std::int64_t>(c);
    for (std::size_t a = weights.size(); a-- > 0; rest /= taps)
      x = p.emit(VecOp::Mul, RegType::F32, x, weights[a][static_cast<std::size_t>(rest % taps)]);
    sum = sum < 0 ? x : p.emit(VecOp::Add, RegType::F32, sum, x);
  }
  operands.push_back(out);
  space.strides.push_back(dense);
  space.offsets.assign(operands.size(), 0);
  p.store(static_cast<int>(operands.size()) - 1, RegType::F32, sum);
  ATC_ASSIGN(kernels::Task task, kernels::make_vector_task(p, space, std::move(operands), ctx.chip()));
  ctx.emit(std::move(task));
  return {};
}

}  // namespace atc::ops
