#include <algorithm>
#include <limits>

#include "atc/base/math.h"
#include "kernels/gather.h"
#include "kernels/vector_program.h"
#include "ops/move.h"
#include "ops/reference_util.h"
#include "ops/roi_align.h"

// RoiAlign on the AI Core: a vector program turns regions into the positions and weights of the four
// neighbours of each sample; then, for as many regions at once as the workspace holds, a gather a neighbour
// fetches their elements and a second program pools them.
namespace atc::ops {
namespace {

using kernels::Operand;
using kernels::RegType;
using kernels::VecOp;
using kernels::VectorProgram;
using kernels::VectorSpace;

constexpr std::int64_t kCorners = 4;
constexpr std::int64_t kWorkspaceBytes = std::int64_t{64} << 20;  // of fetched elements

struct Problem {
  RoiAlignOptions options;
  std::int64_t batch, channels, height, width, regions;
  std::int64_t samples() const { return options.sampling_ratio * options.sampling_ratio; }  // of a bin
  std::int64_t bins() const { return options.height * options.width; }
  std::int64_t points() const { return bins() * samples(); }  // of a region
};

Problem problem_of(const ir::Node& node) {
  const Dims x = node.input(0)->type.dims();
  return {*roi_align_options(node), x[0], x[1], x[2], x[3], node.input(1)->type.dims()[0]};
}

/// The neighbours of a sample along one axis: positions as I32, and what each one weighs.
struct AxisTaps {
  int position[2];
  int weight[2];
};

/// Emits the program that finds samples: its space is [regions, samples, rows of bins, columns of bins].
class SampleProgram {
 public:
  SampleProgram(LowerContext& ctx, const Problem& q) : ctx_(ctx), q_(q) {
    space_.dims = {q.regions, q.samples(), q.options.height, q.options.width};
  }

  int load(const Operand& o, std::int64_t offset, const Dims& strides, RegType type) {
    return p_.load(operand(o, offset, strides), type);
  }
  void store(const Operand& o, RegType type, int reg) {
    p_.store(operand(o, 0, row_major_strides(space_.dims)), type, reg);
  }
  StatusOr<kernels::Task> finish() {
    return kernels::make_vector_task(p_, space_, std::move(operands_), ctx_.chip());
  }
  VectorProgram& program() { return p_; }

  /// Axis 0: rows, 1: columns.
  AxisTaps taps(std::size_t axis) {
    const RoiAlignOptions& o = q_.options;
    const std::int64_t bins = axis == 0 ? o.height : o.width;
    const double size = static_cast<double>(axis == 0 ? q_.height : q_.width);
    const int begin = edge(axis == 0 ? 1 : 0), end = edge(axis == 0 ? 3 : 2);
    int length = op(VecOp::Sub, end, begin);
    if (!o.half_pixel) length = op(VecOp::Max, length, value(1));
    const int bin = op(VecOp::Div, length, value(static_cast<double>(bins)));
    const int at = op(VecOp::Add, begin, op(VecOp::Mul, bin, place_in_bins(axis, bins)));
    const int inside = p_.emit(VecOp::And, RegType::B8, op(VecOp::GreaterEqual, at, value(-1)),
                               op(VecOp::LessEqual, at, value(size)));
    const int zero = value(0);
    const int within = op(VecOp::Min, op(VecOp::Max, select(inside, at, zero), zero), value(size - 1));
    const int low = op(VecOp::Floor, within);
    const int high = op(VecOp::Min, op(VecOp::Add, low, value(1)), value(size - 1));
    const int fraction = op(VecOp::Sub, within, low);
    return {{whole(low), whole(high)},
            {select(inside, op(VecOp::Sub, value(1), fraction), zero), select(inside, fraction, zero)}};
  }

 private:
  int operand(const Operand& o, std::int64_t offset, const Dims& strides) {
    operands_.push_back(o);
    space_.offsets.push_back(offset);
    space_.strides.push_back(strides);
    return static_cast<int>(operands_.size()) - 1;
  }
  int value(double v) { return p_.constant(RegType::F32, v); }
  int op(VecOp o, int a, int b) { return p_.emit(o, RegType::F32, a, b); }
  int op(VecOp o, int a) { return p_.emit(o, RegType::F32, a); }
  int select(int condition, int a, int b) { return p_.emit(VecOp::Select, RegType::F32, a, b, condition); }
  int whole(int x) { return p_.emit(VecOp::Cast, RegType::I32, x); }

  /// Column k of the regions (x1, y1, x2, y2) in pixels.
  int edge(std::int64_t k) {
    const int x = load(ctx_.read(ctx_.node().input(1)), k, {4, 0, 0, 0}, RegType::F32);
    const int scaled = op(VecOp::Mul, x, value(q_.options.spatial_scale));
    return q_.options.half_pixel ? op(VecOp::Sub, scaled, value(0.5)) : scaled;
  }

  /// Where samples lie in their region, in bins.
  int place_in_bins(std::size_t axis, std::int64_t bins) {
    const std::int64_t ratio = q_.options.sampling_ratio;
    std::vector<double> bin(static_cast<std::size_t>(bins)), inner;
    for (std::size_t i = 0; i < bin.size(); ++i) bin[i] = static_cast<double>(i);
    for (std::int64_t i = 0; i < q_.samples(); ++i)
      inner.push_back((static_cast<double>(axis == 0 ? i / ratio : i % ratio) + 0.5) /
                      static_cast<double>(ratio));
    const std::string name = ctx_.node().name + (axis == 0 ? "/rows" : "/columns");
    const Operand bin_table = ctx_.constant(name, from_doubles(DType::F32, {bins}, bin));
    const Operand inner_table =
        ctx_.constant(name + "_in_bin", from_doubles(DType::F32, {q_.samples()}, inner));
    const int first = load(bin_table, 0, axis == 0 ? Dims{0, 0, 1, 0} : Dims{0, 0, 0, 1}, RegType::F32);
    return op(VecOp::Add, first, load(inner_table, 0, {0, 1, 0, 0}, RegType::F32));
  }

  LowerContext& ctx_;
  const Problem& q_;
  VectorProgram p_;
  VectorSpace space_;
  std::vector<Operand> operands_;
};

/// `count` elements of a workspace from element `first` on.
Operand part(Operand workspace, std::int64_t first, std::int64_t count, bool output) {
  const auto bytes = static_cast<std::int64_t>(byte_size(workspace.dtype, 1));
  workspace.offset += first * bytes;
  workspace.bytes = count * bytes;
  workspace.output = output;
  return workspace;
}

struct Samples {
  Operand positions;  ///< I32 [corner, region, sample, bin] in an image plane or several of them
  Operand weights;    ///< F32, likewise
};

StatusOr<Samples> emit_samples(LowerContext& ctx, const Problem& q) {
  const std::int64_t all = q.regions * q.points();
  const Samples out{ctx.workspace(DType::I32, kCorners * all * 4),
                    ctx.workspace(DType::F32, kCorners * all * 4)};
  SampleProgram s(ctx, q);
  const AxisTaps rows = s.taps(0), columns = s.taps(1);
  VectorProgram& p = s.program();
  int image = -1;
  if (q.batch > 1) {
    image = s.load(ctx.read(ctx.node().input(2)), 0, {1, 0, 0, 0}, RegType::I64);
    image = p.emit(VecOp::Mul, RegType::I32, p.emit(VecOp::Cast, RegType::I32, image),
                   p.constant(RegType::I32, static_cast<double>(q.height * q.width)));
  }
  const int width = p.constant(RegType::I32, static_cast<double>(q.width));
  for (std::int64_t c = 0; c < kCorners; ++c) {
    const auto row = static_cast<std::size_t>(c / 2), column = static_cast<std::size_t>(c % 2);
    int at = p.emit(VecOp::Mul, RegType::I32, rows.position[row], width);
    at = p.emit(VecOp::Add, RegType::I32, at, columns.position[column]);
    if (image >= 0) at = p.emit(VecOp::Add, RegType::I32, at, image);
    s.store(part(out.positions, c * all, all, true), RegType::I32, at);
    s.store(part(out.weights, c * all, all, true), RegType::F32,
            p.emit(VecOp::Mul, RegType::F32, rows.weight[row], columns.weight[column]));
  }
  ATC_ASSIGN(kernels::Task task, s.finish());
  ctx.emit(std::move(task), "RoiAlign/samples");
  return out;
}

/// The data with its channels outermost.
StatusOr<Operand> channels_first(LowerContext& ctx, const Problem& q) {
  Operand x = ctx.read(ctx.node().input(0));
  if (q.batch == 1) return x;
  const std::int64_t plane = q.height * q.width;
  Operand copy = ctx.workspace(x.dtype, x.bytes);
  copy.output = true;
  kernels::CopySegment segment;
  segment.dims = {q.channels, q.batch, plane};
  segment.src_strides = {plane, q.channels * plane, 1};
  segment.dst_strides = {q.batch * plane, plane, 1};
  ATC_TRY(emit_copies(ctx, x.dtype, {segment}, {x, copy}));
  copy.output = false;
  return copy;
}

/// Regions [first, first + count): fetched into `fetched`, one part a corner, and pooled into the output.
Status emit_pooled(LowerContext& ctx, const Problem& q, const Samples& samples, const Operand& x,
                   const Operand& fetched, std::int64_t first, std::int64_t count) {
  const std::int64_t all = q.regions * q.points(), points = count * q.points();
  const bool takes_max = q.options.takes_max;
  VectorProgram p;
  VectorSpace space;
  space.dims = {count, q.channels, q.samples(), q.bins()};
  space.reduce_axis = 2;
  std::vector<Operand> operands;
  const auto load = [&](const Operand& o, const Dims& strides) {
    operands.push_back(o);
    space.strides.push_back(strides);
    return p.load(static_cast<int>(operands.size()) - 1, RegType::F32);
  };
  int sum = -1;
  for (std::int64_t c = 0; c < kCorners; ++c) {
    kernels::GatherSpec s;
    s.element_bytes = bit_width(x.dtype) / 8;
    s.outer = q.channels;
    s.axis = q.batch * q.height * q.width;
    s.count = points;
    const std::int64_t from = c * all + first * q.points(), elements = q.channels * points;
    ATC_ASSIGN(kernels::Task task, kernels::make_gather(s,
                                                        {x, part(samples.positions, from, points, false),
                                                         part(fetched, c * elements, elements, true)},
                                                        ctx.chip()));
    ctx.emit(std::move(task), "RoiAlign/neighbours");
    const int element = load(part(fetched, c * elements, elements, false), {q.points(), points, q.bins(), 1});
    const int weight = load(part(samples.weights, from, points, false), {q.points(), 0, q.bins(), 1});
    const int term = p.emit(VecOp::Mul, RegType::F32, element, weight);
    sum = sum < 0 ? term : p.emit(takes_max ? VecOp::Max : VecOp::Add, RegType::F32, sum, term);
  }
  int pooled = p.emit(takes_max ? VecOp::ReduceMax : VecOp::ReduceSum, RegType::F32, sum);
  if (!takes_max)
    pooled = p.emit(VecOp::Mul, RegType::F32, pooled,
                    p.constant(RegType::F32, 1.0 / static_cast<double>(q.samples())));
  const std::int64_t region = q.channels * q.bins();
  operands.push_back(part(ctx.write(ctx.node().output(0)), first * region, count * region, true));
  space.strides.push_back({region, q.bins(), 0, 1});
  space.offsets.assign(operands.size(), 0);
  p.store(static_cast<int>(operands.size()) - 1, RegType::F32, pooled);
  ATC_ASSIGN(kernels::Task task, kernels::make_vector_task(p, space, std::move(operands), ctx.chip()));
  ctx.emit(std::move(task));
  return {};
}

}  // namespace

bool lowers_roi_align(const ir::Node& node) {
  const auto options = roi_align_options(node);
  if (!options.ok() || options->sampling_ratio < 1) return false;
  if (element_count(node.input(0)->type.dims()) == 0 || element_count(node.output(0)->type.dims()) == 0)
    return false;
  const Problem q = problem_of(node);
  const bool floats = kernels::reg_type_of(node.input(0)->type.dtype) == RegType::F32 &&
                      kernels::reg_type_of(node.input(1)->type.dtype) == RegType::F32;
  // Positions along an axis are f32 before they are i32.
  constexpr std::int64_t kWholeFloats = 1 << 24;
  const auto positions = checked_mul(q.batch, q.height * q.width);
  std::int64_t elements = 4 * kCorners;
  for (std::int64_t factor : {q.regions, q.options.height, q.options.width, q.options.sampling_ratio,
                              q.options.sampling_ratio, q.channels}) {
    const auto product = checked_mul(elements, factor);
    if (!product) return false;
    elements = *product;
  }
  return floats && std::max(q.height, q.width) <= kWholeFloats && positions &&
         *positions < std::numeric_limits<std::int32_t>::max();
}

Status lower_roi_align(LowerContext& ctx) {
  const Problem q = problem_of(ctx.node());
  ATC_ASSIGN(const Samples samples, emit_samples(ctx, q));
  ATC_ASSIGN(const Operand x, channels_first(ctx, q));
  const std::int64_t region_bytes =
      kCorners * q.channels * q.points() * static_cast<std::int64_t>(byte_size(x.dtype, 1));
  const std::int64_t at_once = std::clamp(kWorkspaceBytes / region_bytes, std::int64_t{1}, q.regions);
  const Operand fetched = ctx.workspace(x.dtype, at_once * region_bytes);
  for (std::int64_t first = 0; first < q.regions; first += at_once)
    ATC_TRY(emit_pooled(ctx, q, samples, x, fetched, first, std::min(at_once, q.regions - first)));
  return {};
}

}  // namespace atc::ops
