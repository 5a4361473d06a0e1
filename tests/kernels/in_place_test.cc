#include "kernels/in_place.h"

#include <gtest/gtest.h>

#include "harness.h"
#include "kernels/in_place_rules.h"
#include "kernels/scatter.h"
#include "kernels/vector_program.h"

namespace atc::kernels::testing {
namespace {

/// A vector task and its memory.
struct Case {
  VectorProgram program;
  VectorSpace space;
  Memory memory;
  std::vector<Operand> operands;

  int add(int tensor, DType dtype, bool output, Dims strides) {
    operands.push_back(memory.operand(tensor, dtype, output));
    space.strides.push_back(std::move(strides));
    space.offsets.push_back(0);
    return static_cast<int>(operands.size()) - 1;
  }
  int input(DType dtype, const Dims& dims, Dims strides, std::mt19937& rng) {
    return add(memory.add(random_tensor(dtype, dims, rng)), dtype, false, std::move(strides));
  }
  int output(DType dtype, std::int64_t count, Dims strides) {
    return add(memory.add(byte_size(dtype, static_cast<std::size_t>(count))), dtype, true,
               std::move(strides));
  }
  Task task() const {
    auto t = make_vector_task(program, space, operands, chip("Ascend310P3"));
    EXPECT_TRUE(t.ok()) << t.status().to_string() << program.to_string();
    return *t;
  }
};

/// The outputs of a task that runs with operand `output` in the place of operand `input`, blocks from the
/// last to the first. -1: each in its own place.
std::vector<std::vector<std::byte>> outputs(Task task, Memory memory, aicore::Values values, int input = -1,
                                            int output = -1) {
  if (input >= 0)
    task.operands[static_cast<std::size_t>(output)].tensor =
        task.operands[static_cast<std::size_t>(input)].tensor;
  std::vector<aicore::Gm> operands;
  for (const Operand& o : task.operands)
    operands.push_back({memory[o.tensor].data() + o.offset, o.bytes, false});
  const auto kernel = find_kernel(task.kernel)->prepare(task, chip("Ascend310P3"));
  EXPECT_TRUE(kernel.ok()) << kernel.status().to_string();
  aicore::Core core(chip("Ascend310P3"), values, false);
  for (std::size_t b = static_cast<std::size_t>(task.blocks()); b-- > 0;) {
    core.start_block(task.blocks());
    (*kernel)->run(core, operands, task.block_tiles[b], task.block_tiles[b + 1]);
  }
  std::vector<std::vector<std::byte>> out;
  for (const Operand& o : task.operands)
    if (o.output) out.push_back(memory[o.tensor]);
  return out;
}

Dims row_major(const Dims& dims) { return broadcast_strides(dims, dims); }

class Maker {
 public:
  explicit Maker(unsigned seed) : rng_(seed) {}

  Case run() {
    const bool reduces = between(0, 1) == 1;
    Dims& dims = c_.space.dims;
    dims = {between(1, 4), between(1, 40), between(1, 90)};
    if (reduces) c_.space.reduce_axis = between(1, 2);
    // Longer than the Unified Buffer: walked in chunks, once for each reduction.
    if (reduces && between(0, 5) == 0) dims[static_cast<std::size_t>(c_.space.reduce_axis)] = 30000;
    for (int i = between(1, 3); i-- > 0;) inputs_.push_back(c_.input(DType::F32, dims, strides(), rng_));
    for (int i = between(1, 2); i-- > 0;)
      outputs_.push_back(c_.output(DType::F32, element_count(dims), strides()));
    for (const int i : inputs_) registers_.push_back(c_.program.load(i, RegType::F32));
    std::size_t stored = 0;
    for (int i = between(2, 9); i-- > 0;) {
      step(reduces);
      if (between(0, 3) == 0 && stored < outputs_.size()) store(stored++);
    }
    while (stored < outputs_.size()) store(stored++);
    return std::move(c_);
  }

 private:
  int between(int low, int high) { return std::uniform_int_distribution<int>(low, high)(rng_); }
  int any() {
    return registers_[static_cast<std::size_t>(between(0, static_cast<int>(registers_.size()) - 1))];
  }

  // Mostly row-major, sometimes with the last axes exchanged.
  Dims strides() {
    const Dims& d = c_.space.dims;
    if (between(0, 4) > 0) return row_major(d);
    return {d[1] * d[2], 1, d[1]};
  }

  void step(bool reduces) {
    VectorProgram& p = c_.program;
    if (reduces && between(0, 3) == 0) {
      registers_.push_back(
          p.emit(between(0, 1) == 0 ? VecOp::ReduceMax : VecOp::ReduceSum, RegType::F32, any()));
      return;
    }
    if (between(0, 3) == 0) {
      registers_.push_back(p.load(
          inputs_[static_cast<std::size_t>(between(0, static_cast<int>(inputs_.size()) - 1))], RegType::F32));
      return;
    }
    constexpr VecOp kOps[] = {VecOp::Add, VecOp::Sub, VecOp::Mul, VecOp::Max};
    registers_.push_back(p.emit(kOps[between(0, 3)], RegType::F32, any(), any()));
  }

  void store(std::size_t output) {
    c_.program.store(outputs_[output], RegType::F32, between(0, 1) == 0 ? any() : registers_.back());
  }

  std::mt19937 rng_;
  Case c_;
  std::vector<int> inputs_, outputs_, registers_;
};

// Whatever may lie in the place of an input gives the same bits there, however the task runs.
TEST(MayShare, RandomProgramsGiveTheSameBitsInPlace) {
  int shared = 0, apart = 0;
  for (unsigned seed = 0; seed < 250; ++seed) {
    const Case c = Maker(seed).run();
    const Task task = c.task();
    std::vector<std::vector<std::byte>> expected;
    for (std::size_t o = 0; o < task.operands.size(); ++o)
      for (std::size_t i = 0; i < task.operands.size(); ++i) {
        if (task.operands[i].output || !task.operands[o].output) continue;
        if (!may_share(task, i, o)) {
          ++apart;
          continue;
        }
        ++shared;
        if (expected.empty()) expected = outputs(task, c.memory, aicore::Values::Literal);
        for (const aicore::Values values : {aicore::Values::Fast, aicore::Values::Literal})
          ASSERT_EQ(outputs(task, c.memory, values, static_cast<int>(i), static_cast<int>(o)), expected)
              << "seed " << seed << ", " << o << " in the place of " << i << ": " << c.program.to_string();
      }
  }
  EXPECT_GT(shared, 100);
  EXPECT_GT(apart, 100);
}

/// y = f(x, ...) over [7, 100], x and y row-major.
struct Square {
  std::mt19937 rng{5};
  Case c;
  int x, y;
  explicit Square(DType dtype = DType::F32, DType out = DType::F32) {
    c.space.dims = {7, 100};
    x = c.input(dtype, {7, 100}, {100, 1}, rng);
    y = c.output(out, 700, {100, 1});
  }
  bool may() const { return may_share(c.task(), static_cast<std::size_t>(x), static_cast<std::size_t>(y)); }
  bool changes_results() const {
    const Task task = c.task();
    const auto expected = outputs(task, c.memory, aicore::Values::Literal);
    return outputs(task, c.memory, aicore::Values::Fast, x, y) != expected ||
           outputs(task, c.memory, aicore::Values::Literal, x, y) != expected;
  }
};

TEST(MayShare, ElementwiseInEveryDtype) {
  for (const DType dtype : {DType::F32, DType::F16, DType::BF16}) {
    Square s(dtype, dtype);
    s.c.program.store(s.y, RegType::F32,
                      s.c.program.emit(VecOp::Tanh, RegType::F32, s.c.program.load(s.x, RegType::F32)));
    EXPECT_TRUE(s.may());
    EXPECT_FALSE(s.changes_results());
  }
}

TEST(MayShare, NotWithElementsOfAnotherSize) {
  Square s(DType::F32, DType::F16);
  s.c.program.store(s.y, RegType::F32,
                    s.c.program.emit(VecOp::Tanh, RegType::F32, s.c.program.load(s.x, RegType::F32)));
  EXPECT_FALSE(s.may());
}

// Read again behind the point where the result is there: a copy in Fast mode is an alias until then.
TEST(MayShare, NotWhatIsReadAfterTheResultIsWritten) {
  Square s;
  const int other = s.c.output(DType::F32, 700, {100, 1});
  VectorProgram& p = s.c.program;
  const int x = p.load(s.x, RegType::F32);
  p.store(s.y, RegType::F32, p.emit(VecOp::Exp, RegType::F32, x));
  p.store(other, RegType::F32, p.emit(VecOp::Add, RegType::F32, x, x));
  EXPECT_FALSE(s.may());
  EXPECT_TRUE(s.changes_results());
}

TEST(MayShare, NotWhatIsLoadedAgainAfterTheResultIsStored) {
  Square s;
  const int other = s.c.output(DType::F32, 700, {100, 1});
  VectorProgram& p = s.c.program;
  p.store(s.y, RegType::F32, p.emit(VecOp::Exp, RegType::F32, p.load(s.x, RegType::F32)));
  const int x = p.load(s.x, RegType::F32);
  p.store(other, RegType::F32, p.emit(VecOp::Add, RegType::F32, x, x));
  EXPECT_FALSE(s.may());
  EXPECT_TRUE(s.changes_results());
}

// One row for all rows: each tile but the first would read what another one has written.
TEST(MayShare, NotWhatIsSpread) {
  std::mt19937 rng(3);
  Case c;
  c.space.dims = {700, 100};
  const int x = c.input(DType::F32, {700, 100}, {0, 1}, rng);
  const int y = c.output(DType::F32, 70000, {100, 1});
  c.program.store(y, RegType::F32, c.program.emit(VecOp::Exp, RegType::F32, c.program.load(x, RegType::F32)));
  EXPECT_FALSE(may_share(c.task(), 0, 1));
}

TEST(MayShare, NotWithAnotherOrderOfElements) {
  std::mt19937 rng(3);
  Case c;
  c.space.dims = {100, 100};
  const int x = c.input(DType::F32, {100, 100}, {1, 100}, rng);
  const int y = c.output(DType::F32, 10000, {100, 1});
  c.program.store(y, RegType::F32, c.program.emit(VecOp::Exp, RegType::F32, c.program.load(x, RegType::F32)));
  const Task task = c.task();
  EXPECT_FALSE(may_share(task, 0, 1));
  EXPECT_NE(outputs(task, c.memory, aicore::Values::Literal, x, y),
            outputs(task, c.memory, aicore::Values::Literal));
}

// Softmax reads each row three times where it does not fit, and writes it in the last pass only.
TEST(MayShare, RowsThatAreReadSeveralTimes) {
  for (const std::int64_t columns : {90, 200000}) {
    std::mt19937 rng(4);
    Case c;
    c.space.dims = {3, columns};
    c.space.reduce_axis = 1;
    const int in = c.input(DType::F32, {3, columns}, {columns, 1}, rng);
    const int out = c.output(DType::F32, 3 * columns, {columns, 1});
    VectorProgram& p = c.program;
    const int v = p.load(in, RegType::F32);
    const int e = p.emit(VecOp::Exp, RegType::F32,
                         p.emit(VecOp::Sub, RegType::F32, v, p.emit(VecOp::ReduceMax, RegType::F32, v)));
    p.store(out, RegType::F32,
            p.emit(VecOp::Div, RegType::F32, e, p.emit(VecOp::ReduceSum, RegType::F32, e)));
    const Task task = c.task();
    ASSERT_TRUE(may_share(task, 0, 1));
    const auto expected = outputs(task, c.memory, aicore::Values::Literal);
    EXPECT_EQ(outputs(task, c.memory, aicore::Values::Fast, in, out), expected) << columns;
    EXPECT_EQ(outputs(task, c.memory, aicore::Values::Literal, in, out), expected) << columns;
  }
}

// The data becomes the result, whatever is added to which of its rows, on as many cores as there are.
TEST(MayShare, ScatterIntoItsData) {
  for (const aicore::ScatterOp op : {aicore::ScatterOp::Set, aicore::ScatterOp::Add})
    for (const DType dtype : {DType::F32, DType::F16}) {
      std::mt19937 rng(6);
      Memory memory;
      const ScatterSpec spec{op, 3, 500, 40, 70};
      MutableBytes index(3 * 40 * 4);
      for (std::size_t i = 0; i < 120; ++i)
        reinterpret_cast<std::int32_t*>(index.data())[i] = static_cast<std::int32_t>(rng() % 500);
      Tensor where;
      where.dtype = DType::I32;
      where.shape = {3, 40};
      where.data = std::move(index).freeze();
      const int data = memory.add(random_tensor(dtype, {3, 500, 70}, rng)), at = memory.add(where),
                updates = memory.add(random_tensor(dtype, {3, 40, 70}, rng)),
                out = memory.add(byte_size(dtype, 3 * 500 * 70));
      const auto task = make_scatter(spec,
                                     {memory.operand(data, dtype), memory.operand(at, DType::I32),
                                      memory.operand(updates, dtype), memory.operand(out, dtype, true)},
                                     chip("Ascend310P3"));
      ASSERT_TRUE(task.ok()) << task.status().to_string();
      ASSERT_TRUE(may_share(*task, 0, 3));
      EXPECT_FALSE(may_share(*task, 2, 3));
      const auto expected = outputs(*task, memory, aicore::Values::Literal);
      for (const aicore::Values values : {aicore::Values::Fast, aicore::Values::Literal})
        EXPECT_EQ(outputs(*task, memory, values, 0, 3), expected);
    }
}

TEST(MayShare, NotForTemplatesThatSayNothing) {
  Task task;
  task.kernel = "gather";
  task.operands = {{0, 0, 64, DType::F32, false}, {1, 0, 64, DType::F32, true}};
  EXPECT_FALSE(may_share(task, 0, 1));
}

TEST(OneToOne, StridesThatStepOverEachOther) {
  EXPECT_TRUE(one_to_one({2, 3, 4}, {12, 4, 1}));
  EXPECT_TRUE(one_to_one({2, 3, 4}, {1, 2, 6}));
  EXPECT_TRUE(one_to_one({5, 1}, {-3, 0}));
  EXPECT_TRUE(one_to_one({}, {}));
  EXPECT_FALSE(one_to_one({2, 3}, {0, 1}));
  EXPECT_FALSE(one_to_one({4, 4}, {3, 1}));
  EXPECT_FALSE(one_to_one({4, 4}, {1, 1}));
}

}  // namespace
}  // namespace atc::kernels::testing
