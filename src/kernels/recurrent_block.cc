#include "kernels/recurrent_block.h"

#include <algorithm>

#include "aicore/core.h"
#include "atc/base/math.h"

namespace atc::kernels {

using aicore::Buffer;
using aicore::Burst;
using aicore::Core;
using aicore::Gm;
using aicore::Memory;

namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
std::int64_t bytes_of(DType dtype) { return bit_width(dtype) / 8; }

}  // namespace

RecurrentBlock::RecurrentBlock(Core& core, std::span<const Gm> operands, const RecurrentTiling& tiling,
                               const StepPrograms& programs, const std::vector<DType>& dtypes)
    : core_(core), operands_(operands), t_(tiling), s_(tiling.spec), programs_(programs), dtypes_(dtypes) {
  alloc_cube();
  alloc_vector();
  map_.tap_offset = {0};
  map_.b_tap = {0};
}

const RecurrentSpec::Direction& RecurrentBlock::direction() const { return s_.directions[at(direction_)]; }
DType RecurrentBlock::dtype(const RecurrentAccess& a) const { return dtypes_[at(a.operand)]; }
const Gm& RecurrentBlock::gm(const RecurrentAccess& a) const { return operands_[at(a.operand)]; }

std::int64_t RecurrentBlock::address(const RecurrentAccess& a, std::int64_t time, std::int64_t row) const {
  return a.offset + direction_ * a.direction_stride + time * a.time_stride + row * a.row_stride;
}
std::int64_t RecurrentBlock::time_of(std::int64_t step) const {
  return direction().reverse ? s_.sequence - 1 - step : step;
}

void RecurrentBlock::run(std::int64_t tile) {
  direction_ = static_cast<int>(tile / t_.row_blocks());
  row0_ = tile % t_.row_blocks() * t_.rows;
  rows_ = static_cast<int>(std::min<std::int64_t>(t_.rows, s_.batch - row0_));
  load_direction();
  load_lengths();
  load_states();
  for (std::int64_t i = 0; i < s_.sequence; ++i) step(i);
  store_states();
}

void RecurrentBlock::alloc_cube() {
  const std::int64_t e = t_.element_bytes, m16 = round_up(t_.rows, 16), panels = t_.cols / 16;
  a_tiles_.resize(at(s_.states), {nullptr, nullptr});
  for (int state : t_.multiplied())
    for (Buffer*& b : a_tiles_[at(state)])
      b = &core_.alloc(Memory::L1, std::int64_t{t_.rows} * 16 * t_.k1() * e);
  const std::int64_t piece = panels * t_.k1() * 256 * e;
  for (int p = 0; p < t_.resident; ++p) resident_.push_back(&core_.alloc(Memory::L1, piece));
  if (t_.resident < t_.pieces())
    for (Buffer*& b : stream_) b = &core_.alloc(Memory::L1, piece);
  for (int i = 0; i < 2; ++i) {
    l0_.l0a[i] = &core_.alloc(Memory::L0A, m16 * 16 * t_.k_slice * e);
    l0_.l0b[i] = &core_.alloc(Memory::L0B, panels * t_.k_slice * 256 * e);
  }
  for (int g = 0; g < t_.stage_gates(); ++g) l0c_.push_back(&core_.alloc(Memory::L0C, m16 * t_.cols * 4));
}

void RecurrentBlock::alloc_vector() {
  const std::int64_t full = std::int64_t{t_.rows} * t_.cols * 4, row = std::int64_t{t_.cols} * 4;
  for (int g = 0; g < t_.stage_gates(); ++g) {
    product_.push_back(ub(full));
    if (t_.needs_dense()) dense_.push_back(ub(full));
    for (auto& set : input_) set.push_back(ub(full));
  }
  int slots = 0;
  for (const auto& of_direction : programs_) {
    constants_.emplace_back();
    for (const StepProgram& p : of_direction) {
      slots = std::max(slots, p.slots());
      auto& buffers = constants_.back().emplace_back();
      for (std::size_t k = 0; k < p.constants().size(); ++k) buffers.push_back(ub(4));
      p.fill_constants(core_, buffers);
    }
  }
  for (int k = 0; k < slots; ++k) slots_.push_back(ub(full));
  output_ = ub(full);
  storage_ = ub(full);
  multiplied_ = ub(full);
  vector_storage_ = ub(row);
  states_.resize(at(s_.states));
  for (auto& chunks : states_)
    for (int c = 0; c < t_.chunks(); ++c) chunks.push_back(ub(full));
  vectors_.resize(s_.vectors.size());
  for (auto& chunks : vectors_)
    for (int c = 0; c < t_.chunks(); ++c) chunks.push_back(ub(row));
  lengths_ = ub(std::int64_t{t_.rows} * 4);
  time_ = ub(4);
  ports_.assign(at(s_.ports()), nullptr);
}

Core::CubeTile RecurrentBlock::load_piece(Buffer& l1, int gate, int chunk) {
  const std::int64_t n0 = std::int64_t{chunk} * t_.cols, k1 = t_.k1();
  const int n = t_.chunk_cols(chunk);
  const std::int64_t matrix = std::int64_t{direction_} * s_.gates + gate;
  const DType type = dtypes_[1];
  if (s_.layout == RecurrentSpec::Layout::Panels)
    return core_.load_panels(l1, operands_[1], (matrix * k1 + n0 / 16) * k1 * 256, type,
                             static_cast<int>(ceil_div(n, 16)), k1, k1 * 256);
  return core_.load_matrix_b(l1, operands_[1], (matrix * s_.hidden + n0) * s_.hidden, type,
                             static_cast<int>(s_.hidden), n, s_.hidden, true);
}

void RecurrentBlock::load_direction() {
  if (loaded_direction_ == direction_) return;
  loaded_direction_ = direction_;
  weights_.resize(resident_.size());
  for (std::size_t p = 0; p < resident_.size(); ++p)
    weights_[p] =
        load_piece(*resident_[p], static_cast<int>(p) / t_.chunks(), static_cast<int>(p) % t_.chunks());
  for (std::size_t v = 0; v < s_.vectors.size(); ++v) {
    const RecurrentAccess& a = s_.vectors[v];
    for (int c = 0; c < t_.chunks(); ++c)
      load(*vectors_[v][at(c)], *vector_storage_, a, address(a, 0, 0) + std::int64_t{c} * t_.cols, 1,
           t_.chunk_cols(c));
  }
}

void RecurrentBlock::load_lengths() {
  if (!has_lengths()) return;
  const RecurrentAccess& a = s_.lengths;
  core_.copy_in(*lengths_, 0, gm(a), address(a, 0, row0_) * 4, {rows_, 4, a.row_stride * 4, 4});
}

void RecurrentBlock::load_states() {
  for (int k = 0; k < s_.states; ++k) {
    const RecurrentAccess& a = s_.initial[at(k)];
    for (int c = 0; c < t_.chunks(); ++c) {
      const int cols = t_.chunk_cols(c);
      Buffer& state = *states_[at(k)][at(c)];
      constexpr float kZero = 0;
      if (a.operand < 0)
        core_.fill(state, 0, std::int64_t{rows_} * cols, 4, &kZero);
      else
        load(state, *storage_, a, address(a, 0, row0_) + std::int64_t{c} * t_.cols, rows_, cols);
      if (a_tiles_[at(k)][0] != nullptr) multiply_next(k, c);
    }
    std::swap(a_tiles_[at(k)][0], a_tiles_[at(k)][1]);
  }
}

void RecurrentBlock::store_states() {
  for (int k = 0; k < s_.states; ++k) {
    const RecurrentAccess& a = s_.final_states[at(k)];
    if (a.operand < 0) continue;
    for (int c = 0; c < t_.chunks(); ++c)
      store(a, address(a, 0, row0_) + std::int64_t{c} * t_.cols, *states_[at(k)][at(c)], t_.chunk_cols(c));
  }
}

void RecurrentBlock::load(Buffer& dst, Buffer& storage, const RecurrentAccess& a, std::int64_t element,
                          int rows, int cols) {
  const std::int64_t e = bytes_of(dtype(a));
  const bool direct = dtype(a) == DType::F32;
  core_.copy_in(direct ? dst : storage, 0, gm(a), element * e, {rows, cols * e, a.row_stride * e, cols * e});
  if (!direct) core_.cast_in(dst, RegType::F32, storage, dtype(a), std::int64_t{rows} * cols);
}

void RecurrentBlock::store(const RecurrentAccess& a, std::int64_t element, Buffer& src, int cols) {
  const std::int64_t e = bytes_of(dtype(a));
  Buffer* from = &src;
  if (dtype(a) != DType::F32) {
    core_.cast_out(*storage_, dtype(a), src, RegType::F32, std::int64_t{rows_} * cols);
    from = storage_;
  }
  core_.copy_out(gm(a), element * e, *from, 0, {rows_, cols * e, a.row_stride * e, cols * e});
}

void RecurrentBlock::multiply_next(int state, int chunk) {
  Buffer* from = states_[at(state)][at(chunk)];
  const int cols = t_.chunk_cols(chunk);
  if (dtypes_[1] != DType::F32) {
    core_.cast_out(*multiplied_, dtypes_[1], *from, RegType::F32, std::int64_t{rows_} * cols);
    from = multiplied_;
  }
  core_.store_slabs(*a_tiles_[at(state)][1], std::int64_t{chunk} * t_.cols / 16, *from, dtypes_[1], rows_,
                    cols);
}

void RecurrentBlock::load_input(std::int64_t step, const Stage& stage, int chunk,
                                const std::vector<Buffer*>& to) {
  const int cols = t_.chunk_cols(chunk);
  for (int g = 0; g < stage.gates; ++g) {
    const std::int64_t gate = std::int64_t{direction_} * s_.gates + stage.first_gate + g;
    const std::int64_t row = (gate * s_.sequence + time_of(step)) * s_.batch + row0_;
    core_.copy_in(*to[at(g)], 0, operands_[0], (row * s_.hidden + std::int64_t{chunk} * t_.cols) * 4,
                  {rows_, std::int64_t{cols} * 4, s_.hidden * 4, std::int64_t{cols} * 4});
  }
}

void RecurrentBlock::step(std::int64_t index) {
  const std::vector<Stage>& stages = direction().stages;
  if (has_lengths()) {
    const std::int32_t time = static_cast<std::int32_t>(time_of(index));
    core_.fill(*time_, 0, 1, 4, &time);
  }
  if (index == 0) load_input(0, stages[0], 0, input_[at(turn_)]);
  for (std::size_t k = 0; k < stages.size(); ++k) {
    const StepProgram& program = programs_[at(direction_)][k];
    const bool last_stage = k + 1 == stages.size();
    for (int c = 0; c < t_.chunks(); ++c) {
      // The inputs of the next chunk are fetched while this one is computed.
      const bool last_chunk = c + 1 == t_.chunks();
      const std::size_t next_stage = !last_chunk ? k : last_stage ? 0 : k + 1;
      const std::int64_t next_step = index + (last_chunk && last_stage ? 1 : 0);
      if (next_step < s_.sequence)
        load_input(next_step, stages[next_stage], last_chunk ? 0 : c + 1, input_[at(turn_ ^ 1)]);
      products(stages[k], c);
      apply(program, constants_[at(direction_)][k], c);
      if (completes_output(program, last_stage)) write_output(index, c);
      turn_ ^= 1;
    }
    for (int port : program.stored())
      if (const int state = port - s_.state_port(0); state < s_.states)
        std::swap(a_tiles_[at(state)][0], a_tiles_[at(state)][1]);
  }
}

void RecurrentBlock::products(const Stage& stage, int chunk) {
  const int cols = t_.chunk_cols(chunk);
  const int panels = static_cast<int>(ceil_div(cols, 16));
  Core::CubeTile a;
  a.buffer = a_tiles_[at(stage.state)][0];
  a.data = a.buffer->own;
  map_.base.resize(at(rows_));
  for (int r = 0; r < rows_; ++r) map_.base[at(r)] = r * std::int64_t{16};
  map_.k1 = static_cast<int>(t_.k1());
  map_.k_last = static_cast<int>(s_.hidden - (t_.k1() - 1) * 16);
  map_.k1_stride = std::int64_t{rows_} * 16;
  for (int g = 0; g < stage.gates; ++g) {
    const int gate = stage.first_gate + g, piece = gate * t_.chunks() + chunk;
    Core::CubeTile b;
    if (piece < t_.resident) {
      b = weights_[at(piece)];
    } else {
      b = load_piece(*stream_[at(stream_turn_)], gate, chunk);
      stream_turn_ ^= 1;
    }
    core_.l1_product(*l0c_[at(g)], l0_, a, map_, b, dtypes_[1], panels, t_.k_slice, false,
                     aicore::AccLayout::Rows);
    Buffer* product = product_[at(g)];
    core_.fixpipe(*product, *l0c_[at(g)], rows_, 0, rows_, 0, panels, aicore::AccLayout::Rows);
    if (rows_ > 1 && cols != panels * 16) {
      core_.copy_ub(*dense_[at(g)], 0, *product, 0, 4, rows_, cols, cols, panels * std::int64_t{16}, 1);
      product = dense_[at(g)];
    }
    ports_[at(s_.product_port(gate))] = product;
    ports_[at(s_.input_port(gate))] = input_[at(turn_)][at(g)];
  }
}

void RecurrentBlock::apply(const StepProgram& program, const std::vector<Buffer*>& constants, int chunk) {
  for (int k = 0; k < s_.states; ++k) ports_[at(s_.state_port(k))] = states_[at(k)][at(chunk)];
  for (int v = 0; v < std::ssize(s_.vectors); ++v) ports_[at(s_.vector_port(v))] = vectors_[at(v)][at(chunk)];
  ports_[at(s_.lengths_port())] = lengths_;
  ports_[at(s_.time_port())] = time_;
  ports_[at(s_.output_port())] = output_;
  program.run(core_, slots_, constants, ports_, rows_, t_.chunk_cols(chunk));
  for (int port : program.stored()) {
    const int state = port - s_.state_port(0);
    if (state < s_.states && a_tiles_[at(state)][1] != nullptr) multiply_next(state, chunk);
  }
}

bool RecurrentBlock::completes_output(const StepProgram& program, bool last) const {
  if (s_.output.operand < 0) return false;
  if (!has_lengths()) return last;
  const auto& ports = program.stored();
  return std::find(ports.begin(), ports.end(), s_.output_port()) != ports.end();
}

void RecurrentBlock::write_output(std::int64_t index, int chunk) {
  Buffer& from = has_lengths() ? *output_ : *states_[0][at(chunk)];
  store(s_.output, address(s_.output, time_of(index), row0_) + std::int64_t{chunk} * t_.cols, from,
        t_.chunk_cols(chunk));
}

}  // namespace atc::kernels
