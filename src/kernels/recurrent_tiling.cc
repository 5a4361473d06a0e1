#include "kernels/recurrent_tiling.h"

#include <algorithm>
#include <optional>
#include <set>

#include "kernels/cube_tiling.h"
#include "soc/chip.h"

namespace atc::kernels {

namespace {

// Beyond these a tile only grows the chunks that wait for each other.
constexpr std::int64_t kMaxRows = 256;
constexpr std::int64_t kMaxCols = 4096;
constexpr std::int64_t kSharingRows = 4;

template <class Archive>
void io_access(Archive& ar, RecurrentAccess& a) {
  ar.io(a.operand);
  ar.io(a.offset);
  ar.io(a.direction_stride);
  ar.io(a.time_stride);
  ar.io(a.row_stride);
}

void io_layout(ParamWriter& ar, RecurrentSpec::Layout& v) { ar.io(static_cast<int>(v)); }
void io_layout(ParamReader& ar, RecurrentSpec::Layout& v) {
  int x = 0;
  ar.io(x);
  if (x < 0 || x > 1) return ar.fail();
  v = static_cast<RecurrentSpec::Layout>(x);
}

template <class Archive>
void io_tiling(Archive& ar, RecurrentTiling& t) {
  const auto access = [](auto& a, RecurrentAccess& x) { io_access(a, x); };
  RecurrentSpec& s = t.spec;
  ar.io(s.sequence);
  ar.io(s.batch);
  ar.io(s.hidden);
  ar.io(s.gates);
  ar.io(s.states);
  io_list(ar, s.directions, [](auto& a, RecurrentSpec::Direction& d) {
    a.io(d.reverse);
    io_list(a, d.stages, [](auto& b, RecurrentSpec::Stage& stage) {
      b.io(stage.first_gate);
      b.io(stage.gates);
      b.io(stage.state);
      io_program(b, stage.program);
    });
  });
  io_layout(ar, s.layout);
  io_list(ar, s.vectors, access);
  io_access(ar, s.lengths);
  io_list(ar, s.initial, access);
  io_list(ar, s.final_states, access);
  io_access(ar, s.output);
  ar.io(t.rows);
  ar.io(t.cols);
  ar.io(t.k_slice);
  ar.io(t.resident);
}

std::vector<Port> ports_of(const RecurrentSpec& s, const RecurrentSpec::Stage& stage) {
  std::vector<Port> ports(static_cast<std::size_t>(s.ports()));
  const auto port = [&](int i) -> Port& { return ports[static_cast<std::size_t>(i)]; };
  const bool has_lengths = s.lengths.operand >= 0;
  for (int g = 0; g < s.gates; ++g) {
    const bool mine = g >= stage.first_gate && g < stage.first_gate + stage.gates;
    port(s.product_port(g)).readable = mine;
    port(s.input_port(g)).readable = mine;
  }
  for (int k = 0; k < s.states; ++k) port(s.state_port(k)).writable = true;
  for (int k = 0; k < std::ssize(s.vectors); ++k) port(s.vector_port(k)).lanes = Lanes::PerCol;
  port(s.lengths_port()) = {RegType::I32, Lanes::PerRow, has_lengths, false};
  port(s.time_port()) = {RegType::I32, Lanes::Scalar, has_lengths, false};
  port(s.output_port()) = {RegType::F32, Lanes::Full, false, has_lengths};
  return ports;
}

}  // namespace

int RecurrentTiling::stage_gates() const {
  int most = 1;
  for (const RecurrentSpec::Direction& d : spec.directions)
    for (const RecurrentSpec::Stage& s : d.stages) most = std::max(most, s.gates);
  return most;
}

std::vector<int> RecurrentTiling::multiplied() const {
  std::set<int> states;
  for (const RecurrentSpec::Direction& d : spec.directions)
    for (const RecurrentSpec::Stage& s : d.stages) states.insert(s.state);
  return {states.begin(), states.end()};
}

StatusOr<StepPrograms> step_programs(const RecurrentSpec& spec) {
  StepPrograms out;
  for (const RecurrentSpec::Direction& d : spec.directions) {
    out.emplace_back();
    for (const RecurrentSpec::Stage& stage : d.stages) {
      ATC_ASSIGN(StepProgram program, StepProgram::create(stage.program, ports_of(spec, stage)));
      out.back().push_back(std::move(program));
    }
  }
  return out;
}

RecurrentFootprint footprint(const RecurrentTiling& t, const StepPrograms& programs) {
  const RecurrentSpec& s = t.spec;
  const std::int64_t e = t.element_bytes, rows = t.rows, cols = t.cols;
  const std::int64_t full = round_up(rows * cols * 4, 32), k1 = t.k1();
  const std::int64_t fractals = cols / 16, m16 = round_up(rows, 16);
  int slots = 0;
  std::int64_t constants = 0;
  for (const auto& direction : programs)
    for (const StepProgram& p : direction) {
      slots = std::max(slots, p.slots());
      constants += std::ssize(p.constants());
    }
  RecurrentFootprint f;
  const std::int64_t gates = t.stage_gates();
  // Products (dense copies), inputs twice, slots, output, two staging buffers, a staging row of vectors.
  f.ub = full * (gates * (t.needs_dense() ? 2 : 1) + 2 * gates + slots + 1 + 2) + round_up(cols * 4, 32);
  f.ub += (s.states * full + std::ssize(s.vectors) * round_up(cols * 4, 32)) * t.chunks();
  f.ub += round_up(rows * 4, 32) + 32 + constants * 32;
  const std::int64_t piece = fractals * k1 * 256 * e;
  f.l1 = 2 * std::ssize(t.multiplied()) * round_up(rows * 16 * k1 * e, 32) + t.resident * piece +
         (t.resident < t.pieces() ? 2 * piece : 0);
  f.l0a = 2 * m16 * 16 * t.k_slice * e;
  f.l0b = 2 * fractals * t.k_slice * 256 * e;
  f.l0c = gates * m16 * cols * 4;
  return f;
}

namespace {

// Cycles of a step that the cut decides: what is streamed from L2, and what each chunk issues.
std::int64_t step_cost(const RecurrentTiling& t, const StepPrograms& programs, const soc::Chip& chip) {
  const std::int64_t piece = t.cols / 16 * t.k1() * 256 * t.element_bytes;
  std::int64_t instructions = 0;
  for (const auto& direction : programs)
    for (const StepProgram& p : direction) instructions += p.instructions();
  const std::int64_t issue = 8 * instructions / std::ssize(programs) + 64 * t.spec.gates;
  return (t.pieces() - t.resident) * piece / std::max(chip.l2_read, 1) + t.chunks() * issue;
}

}  // namespace

bool choose_recurrent_tiles(RecurrentTiling& t, const StepPrograms& programs, const soc::Chip& chip) {
  const RecurrentSpec& s = t.spec;
  const std::int64_t lanes = s.batch * std::ssize(s.directions);
  const auto fits = [&](const RecurrentTiling& c) {
    const RecurrentFootprint f = footprint(c, programs);
    return f.ub <= chip.ub && f.l1 <= chip.l1 && f.l0a <= chip.l0a && f.l0b <= chip.l0b && f.l0c <= chip.l0c;
  };
  // The programs take time by rows, the cube by 16 rows: rows go over the cores, but a few share the weights
  // that each core loads.
  std::int64_t rows = std::max(ceil_div(lanes, chip.cube_blocks()), kSharingRows);
  rows = std::min({rows, kMaxRows, s.batch});
  for (; rows >= 1; rows = rows > 1 ? (rows + 1) / 2 : 0) {
    std::optional<RecurrentTiling> best;
    std::int64_t best_cost = 0;
    for (std::int64_t cols = std::min<std::int64_t>(round_up(s.hidden, 16), kMaxCols); cols >= 16;
         cols = cols > 16 ? round_up(cols / 2, 16) : 0) {
      RecurrentTiling c = t;
      c.rows = static_cast<int>(rows);
      c.cols = static_cast<int>(cols);
      c.k_slice = static_cast<int>(
          std::min<std::int64_t>({c.k1(), 64, chip.l0a / 2 / (round_up(rows, 16) * 16 * c.element_bytes),
                                  chip.l0b / 2 / (cols / 16 * 256 * c.element_bytes)}));
      if (c.k_slice < 1) continue;
      c.resident = c.pieces();
      while (c.resident >= 0 && !fits(c)) --c.resident;
      if (c.resident < 0) continue;
      const std::int64_t cost = step_cost(c, programs, chip);
      if (best && best_cost <= cost) continue;
      best = std::move(c);
      best_cost = cost;
    }
    if (!best) continue;
    t = *std::move(best);
    return true;
  }
  return false;
}

void write_recurrent(ParamWriter& ar, RecurrentTiling& t) { io_tiling(ar, t); }
void read_recurrent(ParamReader& ar, RecurrentTiling& t) { io_tiling(ar, t); }

}  // namespace atc::kernels
