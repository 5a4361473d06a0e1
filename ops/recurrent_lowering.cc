#include "ops/recurrent_lowering.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "atc/base/math.h"
#include "kernels/cube_matmul.h"

namespace atc::ops {

namespace {

using kernels::MatMulSpec;
using kernels::MatrixAddress;
using kernels::Operand;
using kernels::RecurrentAccess;
using kernels::RecurrentSpec;
using kernels::RegType;
using kernels::VecOp;

// Weights of one gate's column block stay below half of the smallest L1 (512 KiB).
constexpr std::int64_t kMaxHiddenBytes = 8192;

bool has(const ir::Node& node, std::size_t input) { return node.input(input) != nullptr; }

/// Matrices [count][n][k] of elements of `Size` bytes as panels [count][n1][k1][16 k][16 n], zero padded.
template <std::size_t Size>
void pack_panels(const std::byte* src, std::byte* dst, std::int64_t count, std::int64_t n, std::int64_t k) {
  const std::int64_t k1 = ceil_div(k, 16), matrix = ceil_div(n, 16) * k1 * 256;
  constexpr std::int64_t kSize = Size;
  for (std::int64_t m = 0; m < count; ++m)
    for (std::int64_t i = 0; i < n; ++i) {
      std::byte* to = dst + (m * matrix + i / 16 * k1 * 256 + i % 16) * kSize;
      const std::byte* from = src + (m * n + i) * k * kSize;
      for (std::int64_t j = 0; j < k; ++j) std::memcpy(to + j * 16 * kSize, from + j * kSize, Size);
    }
}

Tensor packed(const Tensor& t, std::int64_t count, std::int64_t n, std::int64_t k) {
  MutableTensor out(t.dtype, {count * ceil_div(n, 16), ceil_div(k, 16), 16, 16});
  std::memset(out.bytes().data(), 0, out.bytes().size());
  if (bit_width(t.dtype) == 16)
    pack_panels<2>(t.data.data(), out.bytes().data(), count, n, k);
  else
    pack_panels<4>(t.data.data(), out.bytes().data(), count, n, k);
  return std::move(out).freeze();
}

/// The lowering of one node.
class Lowering {
 public:
  Lowering(LowerContext& ctx, const CellForm& cell)
      : ctx_(ctx), node_(ctx.node()), cell_(cell), g_(recurrent_geometry(node_)) {}

  Status run() {
    ATC_ASSIGN(const auto activations,
               recurrent_activations(node_, cell_.activations, static_cast<std::size_t>(g_.directions)));
    fold_bias();
    ATC_ASSIGN(const Operand inputs, input_product());

    spec_.sequence = g_.sequence;
    spec_.batch = g_.batch;
    spec_.hidden = g_.hidden;
    spec_.gates = cell_.gates;
    spec_.states = cell_.states;
    operands_ = {inputs, weights(recurrent::kR, g_.hidden, "R")};
    spec_.layout = node_.input(recurrent::kR)->is_constant() ? RecurrentSpec::Layout::Panels
                                                             : RecurrentSpec::Layout::Transposed;
    StepForm form{spec_, node_, -1, std::vector<int>(static_cast<std::size_t>(cell_.gates), -1)};
    add_vectors(form);
    add_states();
    const std::ptrdiff_t each = std::ssize(cell_.activations);
    for (std::int64_t d = 0; d < g_.directions; ++d) {
      const auto first = activations.begin() + d * each;
      RecurrentSpec::Direction direction{g_.is_reverse(d), {}};
      cell_.build(form, {first, first + each}, direction);
      spec_.directions.push_back(std::move(direction));
    }
    ATC_ASSIGN(kernels::Task task, kernels::make_recurrent_task(spec_, std::move(operands_), ctx_.chip()));
    ctx_.emit(std::move(task));
    return {};
  }

 private:
  const ir::Value* value(std::size_t input) const { return node_.input(input); }

  int add_operand(Operand o) {
    operands_.push_back(o);
    return static_cast<int>(operands_.size()) - 1;
  }

  /// W or R: constants as panels, others as they are.
  Operand weights(std::size_t input, std::int64_t k, const std::string& suffix) {
    const ir::Value* v = value(input);
    if (!v->is_constant()) return ctx_.read(v);
    return ctx_.constant(node_.name + "/" + suffix,
                         packed(v->constant(), g_.directions * cell_.gates, g_.hidden, k));
  }

  // A constant B becomes one bias a gate, and the part that the step adds.
  void fold_bias() {
    if (!has(node_, recurrent::kB) || !value(recurrent::kB)->is_constant()) return;
    const std::vector<double> b = to_doubles(value(recurrent::kB)->constant());
    const std::int64_t rows = cell_.gates * g_.hidden;
    std::vector<double> sums;
    for (std::int64_t d = 0; d < g_.directions; ++d)
      for (std::int64_t i = 0; i < rows; ++i) {
        const auto at = [&](std::int64_t k) { return b[static_cast<std::size_t>(d * 2 * rows + k)]; };
        sums.push_back(at(i) + (i / g_.hidden == cell_.separate_bias ? 0.0 : at(rows + i)));
      }
    folded_bias_ = from_doubles(DType::F32, {g_.directions, rows}, sums);
  }

  /// X W^T + biases for all gates and steps: f32 [direction][gate][sequence][batch][hidden].
  StatusOr<Operand> input_product() {
    const std::int64_t h = g_.hidden, gates = cell_.gates, step = g_.batch * h, gate = g_.sequence * step;
    const bool by_row = g_.batch_first && g_.batch > 1;
    const bool constant = value(recurrent::kW)->is_constant();
    const std::int64_t matrix = constant ? ceil_div(h, 16) * ceil_div(g_.input, 16) * 256 : h * g_.input;
    MatMulSpec s;
    s.batch = {g_.directions, gates};
    s.m = by_row ? g_.sequence : g_.sequence * g_.batch;
    s.k = g_.input;
    s.n = h;
    s.b_layout = constant ? MatMulSpec::BLayout::Panels : MatMulSpec::BLayout::Transposed;
    s.a = {0, {0, 0}, g_.input, 0};
    s.b = {0, {gates * matrix, matrix}, g_.input, 0};
    MatrixAddress to = {0, {gates * gate, gate}, by_row ? step : h, 1};
    std::vector<Operand> operands = {ctx_.read(value(recurrent::kX)), weights(recurrent::kW, g_.input, "W")};

    int sum = s.epilogue.emit(VecOp::Acc, RegType::F32);
    const auto add = [&](Operand o, std::int64_t offset, std::int64_t direction_stride) {
      const int operand = static_cast<int>(operands.size()) - 2;
      operands.push_back(o);
      s.epilogue_operands.push_back({offset, {direction_stride, h}, 0, 1});
      sum = s.epilogue.emit(VecOp::Add, RegType::F32, sum, s.epilogue.load(operand, RegType::F32));
    };
    if (folded_bias_) {
      add(ctx_.constant(node_.name + "/B", *folded_bias_), 0, gates * h);
    } else if (has(node_, recurrent::kB)) {
      add(ctx_.read(value(recurrent::kB)), 0, 2 * gates * h);
      if (cell_.separate_bias < 0) add(ctx_.read(value(recurrent::kB)), gates * h, 2 * gates * h);
    }
    const std::int64_t elements = g_.directions * gates * gate;
    Operand out = ctx_.workspace(DType::F32, elements * 4);
    s.epilogue.store(static_cast<int>(operands.size()) - 2, RegType::F32, sum);
    operands.push_back(out);
    s.epilogue_operands.push_back(to);
    if (by_row) {
      s.batch.push_back(g_.batch);
      s.a.batch_strides.push_back(g_.sequence * g_.input);
      s.b.batch_strides.push_back(0);
      for (MatrixAddress& a : s.epilogue_operands) a.batch_strides.push_back(0);
      s.epilogue_operands.back().batch_strides.back() = h;
    }
    ATC_ASSIGN(kernels::Task task, kernels::make_matmul_task(s, std::move(operands), ctx_.chip()));
    task.macs = elements * g_.input;
    ctx_.emit(std::move(task));
    out.output = false;
    return out;
  }

  // Biases that the step adds, peepholes, lengths.
  void add_vectors(StepForm& form) {
    const std::int64_t h = g_.hidden, rows = cell_.gates * h;
    if (cell_.separate_bias >= 0 && has(node_, recurrent::kB)) {
      const int b = add_operand(ctx_.read(value(recurrent::kB)));
      for (int gate = 0; gate < cell_.gates; ++gate) {
        if (value(recurrent::kB)->is_constant() && gate != cell_.separate_bias) continue;
        form.r_bias[static_cast<std::size_t>(gate)] = static_cast<int>(spec_.vectors.size());
        spec_.vectors.push_back({b, rows + gate * h, 2 * rows, 0, 0});
      }
    }
    if (has(node_, recurrent::kPeephole)) {
      const int p = add_operand(ctx_.read(value(recurrent::kPeephole)));
      form.peephole = static_cast<int>(spec_.vectors.size());
      for (int k = 0; k < 3; ++k) spec_.vectors.push_back({p, k * h, 3 * h, 0, 0});
    }
    if (has(node_, recurrent::kLengths))
      spec_.lengths = {add_operand(ctx_.read(value(recurrent::kLengths))), 0, 0, 0, 1};
  }

  void add_states() {
    const std::int64_t h = g_.hidden, d = g_.directions, s = g_.sequence, b = g_.batch;
    const auto state = [&](int operand) -> RecurrentAccess {
      if (g_.batch_first) return {operand, 0, h, 0, d * h};
      return {operand, 0, b * h, 0, h};
    };
    for (int k = 0; k < cell_.states; ++k) {
      const std::size_t in = recurrent::kInitialH + static_cast<std::size_t>(k);
      const std::size_t out = static_cast<std::size_t>(k) + 1;
      const bool outer = k < cell_.outer_states;
      spec_.initial.push_back(outer && has(node_, in) ? state(add_operand(ctx_.read(value(in))))
                                                      : RecurrentAccess{});
      spec_.final_states.push_back(outer && node_.output(out) != nullptr
                                       ? state(add_operand(ctx_.write(node_.output(out))))
                                       : RecurrentAccess{});
    }
    if (node_.output(0) == nullptr) return;
    const int y = add_operand(ctx_.write(node_.output(0)));
    spec_.output = g_.batch_first ? RecurrentAccess{y, 0, h, d * h, s * d * h}
                                  : RecurrentAccess{y, 0, b * h, d * b * h, h};
  }

  LowerContext& ctx_;
  const ir::Node& node_;
  const CellForm& cell_;
  const RecurrentGeometry g_;
  RecurrentSpec spec_;
  std::vector<Operand> operands_;
  std::optional<Tensor> folded_bias_;
};

}  // namespace

bool lowers_recurrent(const ir::Node& node) {
  for (std::size_t i : {recurrent::kX, recurrent::kW, recurrent::kR}) {
    const ir::Value* v = node.input(i);
    if (v == nullptr || !v->type.is_static() || v->type.dims().size() != 3) return false;
    const DType t = v->type.dtype;
    if (t != DType::F32 && t != DType::F16 && t != DType::BF16) return false;
  }
  const RecurrentGeometry g = recurrent_geometry(node);
  const DType dtype = node.input(recurrent::kR)->type.dtype;
  return g.sequence > 0 && g.batch > 0 && g.input > 0 && g.hidden > 0 &&
         g.hidden * bit_width(dtype) / 8 <= kMaxHiddenBytes;
}

Status lower_recurrent(LowerContext& ctx, const CellForm& cell) { return Lowering(ctx, cell).run(); }

int StepWriter::product(int gate) {
  const int x = load(spec_.product_port(gate));
  const int bias = form_.r_bias[static_cast<std::size_t>(gate)];
  return bias < 0 ? x : op(VecOp::Add, x, load(spec_.vector_port(bias)));
}

int StepWriter::with_peephole(int x, int k, int state) {
  if (form_.peephole < 0) return x;
  return op(VecOp::Add, x, op(VecOp::Mul, state, load(spec_.vector_port(form_.peephole + k))));
}

void StepWriter::finish(const std::vector<int>& fresh, const std::vector<int>& old) {
  if (spec_.lengths.operand < 0) {
    for (std::size_t s = 0; s < fresh.size(); ++s) store(static_cast<int>(s), fresh[s]);
    return;
  }
  const int lengths = p_.load(spec_.lengths_port(), RegType::I32);
  const int time = p_.load(spec_.time_port(), RegType::I32);
  const int lasts = p_.emit(VecOp::Greater, RegType::I32, lengths, time);
  p_.store(spec_.output_port(), RegType::F32, op(VecOp::Select, fresh[0], constant(0), lasts));
  for (std::size_t s = 0; s < fresh.size(); ++s)
    store(static_cast<int>(s), op(VecOp::Select, fresh[s], old[s], lasts));
}

}  // namespace atc::ops
