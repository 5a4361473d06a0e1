#include "kernels/recurrent.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>

#include "aicore/core.h"
#include "kernels/access.h"
#include "kernels/kernel_list.h"
#include "kernels/recurrent_block.h"
#include "soc/chip.h"

namespace atc::kernels {
namespace {

using aicore::Core;
using aicore::Gm;

constexpr std::string_view kName = "recurrent";

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
std::int64_t bytes_of(DType dtype) { return bit_width(dtype) / 8; }

class RecurrentKernel final : public PreparedKernel {
 public:
  RecurrentKernel(RecurrentTiling tiling, StepPrograms programs, std::vector<DType> dtypes)
      : t_(std::move(tiling)), programs_(std::move(programs)), dtypes_(std::move(dtypes)) {}

  void run(Core& core, std::span<const Gm> operands, std::int64_t first, std::int64_t last) const override {
    if (first >= last) return;
    RecurrentBlock block(core, operands, t_, programs_, dtypes_);
    for (std::int64_t tile = first; tile < last; ++tile) block.run(tile);
  }

  std::int64_t tile_key(std::int64_t tile) const override {
    return tile / t_.row_blocks() * 2 + (tile % t_.row_blocks() + 1 == t_.row_blocks() ? 1 : 0);
  }

 private:
  RecurrentTiling t_;
  StepPrograms programs_;
  std::vector<DType> dtypes_;
};

bool is_cube_dtype(DType t) { return t == DType::F32 || t == DType::F16 || t == DType::BF16; }

/// The operand of an access exists, is of a floating type, and holds `units` elements at every row of every
/// direction and time step.
bool is_inside(const RecurrentSpec& s, const RecurrentAccess& a, const std::vector<Operand>& operands,
               std::int64_t times, std::int64_t rows, bool output) {
  if (a.operand < 0 || a.operand >= std::ssize(operands)) return false;
  const Operand& o = operands[at(a.operand)];
  if (!is_cube_dtype(o.dtype) || (output && !o.output)) return false;
  const std::array<std::int64_t, 4> dims = {std::ssize(s.directions), times, rows, s.hidden};
  const std::array<std::int64_t, 4> strides = {a.direction_stride, a.time_stride, a.row_stride, 1};
  return within(o, bytes_of(o.dtype), a.offset, dims, strides);
}

Status check_shape(const RecurrentSpec& s) {
  constexpr std::int64_t kLimit = std::int64_t{1} << 31;
  for (std::int64_t d : {s.sequence, s.batch, s.hidden})
    if (d < 1 || d >= kLimit) return bad_params(kName, "extent out of range");
  if (s.gates < 1 || s.gates > 16 || s.states < 1 || s.states > 16 || s.vectors.size() > 64)
    return bad_params(kName, "number of gates, states or vectors");
  if (s.directions.empty() || s.directions.size() > 2) return bad_params(kName, "number of directions");
  if (std::ssize(s.initial) != s.states || std::ssize(s.final_states) != s.states)
    return bad_params(kName, "states without addresses");
  for (const RecurrentSpec::Direction& d : s.directions) {
    if (d.stages.empty() || d.stages.size() > 8) return bad_params(kName, "number of stages");
    for (const RecurrentSpec::Stage& stage : d.stages)
      if (stage.gates < 1 || stage.first_gate < 0 || stage.gates > s.gates ||
          stage.first_gate > s.gates - stage.gates || stage.state < 0 || stage.state >= s.states)
        return bad_params(kName, "a stage's gates or state");
  }
  return {};
}

Status check_spec(const RecurrentSpec& s, const std::vector<Operand>& operands) {
  ATC_TRY(check_shape(s));
  if (operands.size() < 2 || operands[0].dtype != DType::F32) return bad_params(kName, "operand count");
  if (!is_cube_dtype(operands[1].dtype)) return bad_params(kName, "the cube does not take these operands");

  const std::int64_t gates = std::ssize(s.directions) * s.gates;
  const std::int64_t units = s.layout == RecurrentSpec::Layout::Panels ? round_up(s.hidden, 16) : s.hidden;
  const auto dense = [](std::initializer_list<std::int64_t> dims) {
    std::optional<std::int64_t> n = 1;
    for (std::int64_t d : dims) n = n ? checked_mul(*n, d) : n;
    return n;
  };
  const auto inputs = dense({gates, s.sequence, s.batch, s.hidden, 4});
  const auto weights = dense({gates, units, units, bytes_of(operands[1].dtype)});
  if (!inputs || *inputs > operands[0].bytes) return bad_params(kName, "inputs beyond their operand");
  if (!weights || *weights > operands[1].bytes) return bad_params(kName, "weights beyond their operand");

  for (const RecurrentAccess& a : s.initial)
    if (a.operand >= 0 && !is_inside(s, a, operands, 1, s.batch, false))
      return bad_params(kName, "operand of an initial state");
  for (const RecurrentAccess& a : s.final_states)
    if (a.operand >= 0 && !is_inside(s, a, operands, 1, s.batch, true))
      return bad_params(kName, "operand of a final state");
  for (const RecurrentAccess& a : s.vectors)
    if (!is_inside(s, a, operands, 1, 1, false)) return bad_params(kName, "operand of a vector");
  if (s.output.operand >= 0 && !is_inside(s, s.output, operands, s.sequence, s.batch, true))
    return bad_params(kName, "operand of the output");
  if (s.lengths.operand >= 0) {
    const std::array<std::int64_t, 1> dims = {s.batch}, strides = {s.lengths.row_stride};
    if (s.lengths.operand >= std::ssize(operands) || s.lengths.direction_stride != 0 ||
        operands[at(s.lengths.operand)].dtype != DType::I32 ||
        !within(operands[at(s.lengths.operand)], 4, s.lengths.offset, dims, strides))
      return bad_params(kName, "operand of the lengths");
  }
  return {};
}

}  // namespace

bool recurrent_fits(const RecurrentSpec& spec, DType dtype, const soc::Chip& chip) {
  RecurrentTiling t;
  t.spec = spec;
  t.element_bytes = static_cast<int>(bytes_of(dtype));
  const auto programs = step_programs(spec);
  return programs.ok() && choose_recurrent_tiles(t, *programs, chip);
}

StatusOr<Task> make_recurrent_task(const RecurrentSpec& spec, std::vector<Operand> operands,
                                   const soc::Chip& chip) {
  ATC_TRY(check_spec(spec, operands));
  RecurrentTiling t;
  t.spec = spec;
  t.element_bytes = static_cast<int>(bytes_of(operands[1].dtype));
  ATC_ASSIGN(const StepPrograms programs, step_programs(spec));
  if (!choose_recurrent_tiles(t, programs, chip))
    return Status::error("E10055", "The operation is not supported. Reason: no tile of a recurrence over " +
                                       std::to_string(spec.hidden) + " units fits " + std::string(chip.name));
  Task task;
  task.kernel = kName;
  task.operands = std::move(operands);
  task.block_tiles = split_tiles(t.tiles(), chip.cube_blocks());
  task.macs =
      std::ssize(spec.directions) * spec.gates * spec.sequence * spec.batch * spec.hidden * spec.hidden;
  ParamWriter w;
  write_recurrent(w, t);
  task.params = w.take();
  return task;
}

std::vector<TilingField> describe_recurrent(const Task& task) {
  RecurrentTiling t;
  ParamReader r(task.params);
  read_recurrent(r, t);
  if (!r.done()) return {};
  return {{"rows", t.rows},
          {"columns", t.cols},
          {"k", std::int64_t{t.k_slice} * 16},
          {"resident_weight_pieces", t.resident},
          {"weight_pieces", t.pieces()}};
}

PrepareResult prepare_recurrent(const Task& task, const soc::Chip&) {
  RecurrentTiling t;
  ParamReader r(task.params);
  read_recurrent(r, t);
  if (!r.done()) return bad_params(kName, "they are incomplete");
  ATC_TRY(check_spec(t.spec, task.operands));
  if (t.rows < 1 || t.rows > 4096 || t.cols < 16 || t.cols > 1 << 16 || t.cols % 16 != 0 || t.k_slice < 1 ||
      t.k_slice > 1 << 16 || t.chunks() > 1 << 16 || t.resident < 0 || t.resident > t.pieces())
    return bad_params(kName, "tile out of range");
  t.element_bytes = static_cast<int>(bytes_of(task.operands[1].dtype));
  ATC_TRY(check_blocks(task, t.tiles()));
  ATC_ASSIGN(StepPrograms programs, step_programs(t.spec));
  std::vector<DType> dtypes;
  for (const Operand& o : task.operands) dtypes.push_back(o.dtype);
  return std::unique_ptr<PreparedKernel>(
      new RecurrentKernel(std::move(t), std::move(programs), std::move(dtypes)));
}

}  // namespace atc::kernels
