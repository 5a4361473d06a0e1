#include "kernels/recurrent.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harness.h"
#include "kernels/recurrent_tiling.h"
#include "kernels/step_program.h"

namespace atc::kernels {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)
using Layout = RecurrentSpec::Layout;

/// A cell with two states and two stages, which is none of ONNX's: every mechanism of the template and no
/// transcendental function, so that small integers are exact in every order of summation.
///   stage 0 (gates 0, 1 of h):  z = clip(p0 + x0 + v), s = clip(p1 + x1) (state 1, which stage 1 multiplies)
///   stage 1 (gate 2 of s):      h = clip(p2 + x2 - h + z)
struct Problem {
  std::int64_t sequence = 4, batch = 3, hidden = 20, directions = 2;
  DType weights = DType::F32;
  DType outer = DType::F32;  ///< states and Y
  Layout layout = Layout::Panels;
  bool lengths = false;
  bool initial = true;

  static constexpr int kGates = 3;
  static constexpr double kLimit = 3;
};

double clip(double v) { return std::clamp(v, -Problem::kLimit, Problem::kLimit); }

struct Data {
  std::vector<double> inputs, weights, vector, initial;
  std::vector<std::int64_t> lengths;
};

Data random_data(const Problem& p, std::uint32_t seed) {
  std::mt19937 rng(seed);
  const auto integers = [&](std::int64_t n, int range) {
    std::vector<double> v(static_cast<std::size_t>(n));
    for (double& x : v)
      x = static_cast<double>(static_cast<int>(rng() % (2U * static_cast<unsigned>(range) + 1)) - range);
    return v;
  };
  Data d;
  d.inputs = integers(p.directions * Problem::kGates * p.sequence * p.batch * p.hidden, 2);
  d.weights = integers(p.directions * Problem::kGates * p.hidden * p.hidden, 1);
  d.vector = integers(p.directions * p.hidden, 2);
  d.initial = integers(p.directions * p.batch * p.hidden, 3);
  for (std::int64_t b = 0; b < p.batch; ++b)
    d.lengths.push_back(static_cast<std::int64_t>(rng()) % (p.sequence + 1));
  return d;
}

/// The cell by its equations, row by row. y is [sequence][directions][batch][hidden], the final state
/// [directions][batch][hidden].
void reference(const Problem& p, const Data& d, std::vector<double>& y, std::vector<double>& last) {
  const auto n = static_cast<std::size_t>(p.hidden);
  y.assign(static_cast<std::size_t>(p.sequence * p.directions * p.batch) * n, 0.0);
  last.assign(static_cast<std::size_t>(p.directions * p.batch) * n, 0.0);
  for (std::int64_t dir = 0; dir < p.directions; ++dir)
    for (std::int64_t b = 0; b < p.batch; ++b) {
      const std::size_t row = static_cast<std::size_t>(dir * p.batch + b) * n;
      std::vector<double> h(n, 0.0);
      if (p.initial) std::copy_n(d.initial.begin() + static_cast<std::ptrdiff_t>(row), n, h.begin());
      const std::int64_t length = p.lengths ? d.lengths[static_cast<std::size_t>(b)] : p.sequence;
      for (std::int64_t i = 0; i < length; ++i) {
        const std::int64_t t = dir == 1 ? length - 1 - i : i;
        const auto sum = [&](std::int64_t gate, const std::vector<double>& state, std::size_t j) {
          const std::int64_t matrix = dir * Problem::kGates + gate;
          double v = d.inputs[static_cast<std::size_t>(((matrix * p.sequence + t) * p.batch + b)) * n + j];
          for (std::size_t k = 0; k < n; ++k)
            v += d.weights[(static_cast<std::size_t>(matrix) * n + j) * n + k] * state[k];
          return v;
        };
        std::vector<double> z(n), s(n), next(n);
        for (std::size_t j = 0; j < n; ++j) {
          z[j] = clip(sum(0, h, j) + d.vector[static_cast<std::size_t>(dir) * n + j]);
          s[j] = clip(sum(1, h, j));
        }
        for (std::size_t j = 0; j < n; ++j) next[j] = clip(sum(2, s, j) - h[j] + z[j]);
        h = next;
        std::copy(h.begin(), h.end(),
                  y.begin() + static_cast<std::ptrdiff_t>(
                                  static_cast<std::size_t>((t * p.directions + dir) * p.batch + b) * n));
      }
      std::copy(h.begin(), h.end(), last.begin() + static_cast<std::ptrdiff_t>(row));
    }
}

Tensor packed(const Tensor& t, std::int64_t matrices, std::int64_t n) {
  const std::vector<double> from = to_doubles(t);
  const std::int64_t k1 = ceil_div(n, 16);
  std::vector<double> to(static_cast<std::size_t>(matrices * k1 * k1 * 256), 0.0);
  for (std::int64_t m = 0; m < matrices; ++m)
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        to[static_cast<std::size_t>(((m * k1 + i / 16) * k1 + j / 16) * 256 + j % 16 * 16 + i % 16)] =
            from[static_cast<std::size_t>((m * n + i) * n + j)];
  return from_doubles(t.dtype, {matrices * k1 * k1 * 256}, to);
}

struct Built {
  Memory memory;
  Task task;
  int y = -1, last = -1;
};

RecurrentSpec spec_of(const Problem& p) {
  RecurrentSpec s;
  s.sequence = p.sequence;
  s.batch = p.batch;
  s.hidden = p.hidden;
  s.gates = Problem::kGates;
  s.states = 3;  // h, s, z
  s.layout = p.layout;
  const std::int64_t row = p.hidden, plane = p.batch * p.hidden;
  s.vectors = {{2, 0, p.hidden, 0, 0}};
  int operand = 3;
  const RecurrentAccess state{-1, 0, plane, 0, row};
  s.initial.assign(3, {});
  if (p.initial) {
    s.initial[0] = state;
    s.initial[0].operand = operand++;
  }
  if (p.lengths) s.lengths = {operand++, 0, 0, 0, 1};
  s.final_states.assign(3, {});
  s.output = {operand++, 0, plane, p.directions * plane, row};
  s.final_states[0] = state;
  s.final_states[0].operand = operand++;

  const auto f32 = RegType::F32;
  for (std::int64_t d = 0; d < p.directions; ++d) {
    RecurrentSpec::Stage first{0, 2, 0, {}}, second{2, 1, 1, {}};
    const auto clipped = [&](VectorProgram& v, int x) {
      x = v.emit(VecOp::Min, f32, x, v.constant(f32, Problem::kLimit));
      return v.emit(VecOp::Max, f32, x, v.constant(f32, -Problem::kLimit));
    };
    const auto sum = [&](VectorProgram& v, int gate) {
      return v.emit(VecOp::Add, f32, v.load(s.product_port(gate), f32), v.load(s.input_port(gate), f32));
    };
    VectorProgram& a = first.program;
    const int z = clipped(a, a.emit(VecOp::Add, f32, sum(a, 0), a.load(s.vector_port(0), f32)));
    const int r = clipped(a, sum(a, 1));
    a.store(s.state_port(2), f32, z);
    a.store(s.state_port(1), f32, r);
    VectorProgram& b = second.program;
    const int old = b.load(s.state_port(0), f32);
    int h = b.emit(VecOp::Sub, f32, sum(b, 2), old);
    h = clipped(b, b.emit(VecOp::Add, f32, h, b.load(s.state_port(2), f32)));
    if (p.lengths) {
      const int more = b.emit(VecOp::Greater, RegType::I32, b.load(s.lengths_port(), RegType::I32),
                              b.load(s.time_port(), RegType::I32));
      b.store(s.output_port(), f32, b.emit(VecOp::Select, f32, h, b.constant(f32, 0), more));
      h = b.emit(VecOp::Select, f32, h, old, more);
    }
    b.store(s.state_port(0), f32, h);
    s.directions.push_back({d == 1, {first, second}});
  }
  return s;
}

Built build(const Problem& p, const Data& d, const soc::Chip& on = chip()) {
  Built out;
  const std::int64_t states = p.directions * p.batch * p.hidden;
  const std::int64_t matrices = p.directions * Problem::kGates;
  std::vector<Operand> operands;
  const auto add = [&](const Tensor& t) {
    operands.push_back(out.memory.operand(out.memory.add(t), t.dtype));
  };
  const auto add_output = [&](std::int64_t n) {
    const int i = out.memory.add(byte_size(p.outer, static_cast<std::size_t>(n)));
    operands.push_back(out.memory.operand(i, p.outer, true));
    return i;
  };
  const Tensor r = from_doubles(p.weights, {matrices, p.hidden, p.hidden}, d.weights);
  add(from_doubles(DType::F32, {std::ssize(d.inputs)}, d.inputs));
  add(p.layout == Layout::Panels ? packed(r, matrices, p.hidden) : r);
  add(from_doubles(p.weights, {std::ssize(d.vector)}, d.vector));
  if (p.initial) add(from_doubles(p.outer, {std::ssize(d.initial)}, d.initial));
  if (p.lengths) add(from_int64s(DType::I32, {p.batch}, d.lengths));
  out.y = add_output(p.sequence * states);
  out.last = add_output(states);
  auto task = make_recurrent_task(spec_of(p), operands, on);
  EXPECT_TRUE(task.ok()) << task.status().to_string();
  if (task.ok()) out.task = *std::move(task);
  return out;
}

void expect_exact(const Problem& p, std::uint32_t seed, const soc::Chip& on = chip()) {
  const Data d = random_data(p, seed);
  Built b = build(p, d, on);
  ASSERT_FALSE(b.task.kernel.empty());
  EXPECT_EQ(check_modes(prepare_recurrent, b.task, on, b.memory), "");
  std::vector<double> y, last;
  reference(p, d, y, last);
  const std::vector<float> got = floats(b.memory, b.y, p.outer), state = floats(b.memory, b.last, p.outer);
  ASSERT_EQ(got.size(), y.size());
  ASSERT_EQ(state.size(), last.size());
  for (std::size_t i = 0; i < y.size(); ++i) ASSERT_EQ(static_cast<double>(got[i]), y[i]) << "Y at " << i;
  for (std::size_t i = 0; i < last.size(); ++i) ASSERT_EQ(static_cast<double>(state[i]), last[i]) << i;
}

TEST(Recurrent, EqualsItsEquations) {
  std::uint32_t seed = 1;
  for (const DType weights : {DType::F32, DType::F16, DType::BF16})
    for (const Layout layout : {Layout::Panels, Layout::Transposed})
      for (const bool lengths : {false, true})
        for (const std::int64_t hidden : {1, 16, 20, 48}) {
          Problem p;
          p.weights = weights;
          p.outer = seed % 2 == 0 ? DType::F32 : weights;
          p.layout = layout;
          p.lengths = lengths;
          p.hidden = hidden;
          p.batch = 1 + static_cast<std::int64_t>(seed % 4);
          p.directions = 1 + static_cast<std::int64_t>(seed / 2 % 2);
          p.initial = seed % 3 != 0;
          SCOPED_TRACE("seed " + std::to_string(seed));
          expect_exact(p, seed++);
        }
}

TEST(Recurrent, ManyRowsAreSplitOverCores) {
  Problem p;
  p.batch = 100;
  p.hidden = 24;
  p.lengths = true;
  const Built b = build(p, random_data(p, 7));
  EXPECT_GT(b.task.blocks(), 10);
  expect_exact(p, 7);
}

TEST(Recurrent, WeightsThatDoNotFitAreStreamed) {
  Problem p;
  p.hidden = 272;
  p.sequence = 2;
  p.directions = 1;
  p.batch = 2;
  const Built b = build(p, random_data(p, 3));
  RecurrentTiling t;
  ParamReader r(b.task.params);
  read_recurrent(r, t);
  ASSERT_TRUE(r.done());
  EXPECT_LT(t.resident, t.pieces());
  EXPECT_GT(t.chunks(), 1);
  expect_exact(p, 3);
  expect_exact(p, 4, chip("Ascend310P3"));
}

TEST(Recurrent, LargestUnitsHaveATileOnEveryChip) {
  Problem p;
  p.hidden = 2048;
  p.batch = 64;
  for (const soc::Chip& c : soc::chips()) {
    EXPECT_TRUE(recurrent_fits(spec_of(p), DType::F32, c)) << c.name;
  }
  p.hidden = 1 << 20;
  EXPECT_FALSE(recurrent_fits(spec_of(p), DType::F32, chip()));
}

TEST(Recurrent, RefusesWhatItCannotRun) {
  Problem p;
  const Data d = random_data(p, 1);
  const Built good = build(p, d);
  const auto refused = [&](auto edit) {
    RecurrentSpec s = spec_of(p);
    std::vector<Operand> operands = good.task.operands;
    edit(s, operands);
    return make_recurrent_task(s, operands, chip()).status().to_string();
  };
  EXPECT_NE(refused([](auto& s, auto&) { s.directions[0].stages[1].state = 3; }).find("gates or state"),
            std::string::npos);
  EXPECT_NE(refused([](auto& s, auto&) { s.directions.clear(); }).find("directions"), std::string::npos);
  EXPECT_NE(refused([](auto&, auto& o) { o[1].dtype = DType::I8; }).find("cube"), std::string::npos);
  EXPECT_NE(refused([](auto& s, auto&) { s.hidden = 0; }).find("extent"), std::string::npos);
  // A stage sees the products of its own gates only, and the lengths only when there are some.
  EXPECT_NE(refused([](auto& s, auto&) {
              s.directions[0].stages[0].program.load(s.product_port(2), RegType::F32);
            }).find("gives nothing"),
            std::string::npos);
  EXPECT_NE(refused([](auto& s, auto&) {
              s.directions[0].stages[0].program.load(s.lengths_port(), RegType::I32);
            }).find("gives nothing"),
            std::string::npos);
  EXPECT_GT(fuzz_params(prepare_recurrent, good.task, chip(), good.memory, 400, 5), 50);
}

TEST(StepProgram, ReadsOldValuesWhateverTheOrderOfStores) {
  // Two ports change places.
  VectorProgram p;
  const int a = p.load(0, RegType::F32), b = p.load(1, RegType::F32);
  const int sum = p.emit(VecOp::Add, RegType::F32, a, b);
  p.store(0, RegType::F32, sum);
  p.store(1, RegType::F32, p.emit(VecOp::Sub, RegType::F32, a, b));
  const std::vector<Port> ports(2, Port{RegType::F32, Lanes::Full, true, true});
  const auto program = StepProgram::create(p, ports);
  // The second result needs the first port's old value: the first store may not come before it.
  EXPECT_FALSE(program.ok());
  VectorProgram q;
  const int c = q.load(0, RegType::F32), d = q.load(1, RegType::F32);
  const int s = q.emit(VecOp::Add, RegType::F32, c, d), t = q.emit(VecOp::Sub, RegType::F32, c, d);
  q.store(0, RegType::F32, s);
  q.store(1, RegType::F32, t);
  auto good = StepProgram::create(q, ports);
  ASSERT_TRUE(good.ok()) << good.status().to_string();
  aicore::Core core(chip(), aicore::Values::Fast, false);
  core.start_block(1);
  std::vector<aicore::Buffer*> buffers, slots;
  for (int i = 0; i < 2; ++i) buffers.push_back(&core.alloc(aicore::Memory::UB, 32));
  for (int i = 0; i < good->slots(); ++i) slots.push_back(&core.alloc(aicore::Memory::UB, 32));
  for (int i = 0; i < 8; ++i) {
    buffers[0]->as<float>()[i] = static_cast<float>(i);
    buffers[1]->as<float>()[i] = 10;
  }
  good->run(core, slots, {}, buffers, 2, 4);
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(buffers[0]->as<float>()[i], static_cast<float>(i) + 10);
    EXPECT_EQ(buffers[1]->as<float>()[i], static_cast<float>(i) - 10);
  }
}

TEST(StepProgram, Refusals) {
  const std::vector<Port> ports = {Port{RegType::F32, Lanes::Full, true, false},
                                   Port{RegType::F32, Lanes::PerCol, true, true}};
  const auto refused = [&](auto write) {
    VectorProgram p;
    write(p);
    return StepProgram::create(p, ports).status().to_string();
  };
  EXPECT_NE(refused([](VectorProgram& p) {
              p.store(0, RegType::F32, p.load(0, RegType::F32));
            }).find("takes nothing"),
            std::string::npos);
  EXPECT_NE(refused([](VectorProgram& p) {
              p.store(1, RegType::F32, p.load(0, RegType::F32));
            }).find("does not hold"),
            std::string::npos);
  EXPECT_NE(refused([](VectorProgram& p) { p.load(2, RegType::F32); }).find("gives nothing"),
            std::string::npos);
  EXPECT_NE(refused([](VectorProgram& p) { p.emit(VecOp::Add, RegType::F32, 5, 6); }).find("not assigned"),
            std::string::npos);
  EXPECT_NE(refused([](VectorProgram& p) {
              p.emit(VecOp::ReduceSum, RegType::F32, p.load(0, RegType::F32));
            }).find("no place"),
            std::string::npos);
}

}  // namespace
}  // namespace atc::kernels
