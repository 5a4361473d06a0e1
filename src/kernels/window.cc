#include "kernels/window.h"

#include <algorithm>

#include "aicore/core.h"
#include "atc/base/check.h"
#include "kernels/in_place_rules.h"
#include "kernels/kernel_list.h"
#include "kernels/program_params.h"
#include "kernels/task_packing.h"
#include "kernels/window_tiling.h"
#include "soc/chip.h"

namespace atc::kernels {
namespace {

using aicore::Buffer;
using aicore::Core;
using aicore::Memory;

constexpr std::string_view kName = "window";

template <class Archive>
void io_tiling(Archive& ar, WindowTiling& t) {
  WindowSpec& s = t.spec;
  int kind = static_cast<int>(s.kind);
  ar.io(kind);
  s.kind = static_cast<WindowKind>(kind);  // checked by unpack
  ar.io(s.include_pad);
  ar.io(s.bias);
  ar.io(s.batch);
  ar.io(s.c1);
  ar.io(s.in_batch);
  for (WindowExtent& x : s.axis)
    for (std::int64_t* v : {&x.in, &x.out, &x.kernel, &x.stride, &x.dilation, &x.pad_begin, &x.pad_end})
      ar.io(*v);
  ar.io(t.planes);
  for (std::int64_t& n : t.out) ar.io(n);
  for (std::int64_t& n : t.part) ar.io(n);
  ar.io(t.epilogue_rows);
  io_list(ar, s.epilogue_operands, [](auto& a, ConvAddress& x) {
    for (std::int64_t* v : {&x.offset, &x.n, &x.c1, &x.d, &x.h, &x.w, &x.lane, &x.c0, &x.channels}) a.io(*v);
  });
  io_program(ar, s.epilogue);
}

/// True when the program only moves its accumulator to one f32 operand: the windows may write there at once.
bool only_stores(const VectorProgram& p) {
  return p.code.size() == 2 && p.code[0].op == VecOp::Acc && p.code[1].op == VecOp::Store;
}

class WindowKernel final : public PreparedKernel {
 public:
  WindowKernel(WindowTiling tiling, TileProgram epilogue, const std::vector<Operand>& operands)
      : t_(std::move(tiling)), epilogue_(std::move(epilogue)), dtype_(operands[0].dtype) {
    const std::size_t base = t_.epilogue_base();
    const WindowSpec& s = t_.spec;
    if (s.kind == WindowKind::Depthwise) weight_dtype_ = operands[1].dtype;
    if (s.bias) bias_dtype_ = operands[base - 1].dtype;
    if (!only_stores(s.epilogue)) return;
    const std::size_t k = static_cast<std::size_t>(s.epilogue.code[1].dst);
    const ConvAddress& a = s.epilogue_operands[k];
    if (operands[base + k].dtype == DType::F32 && a.w == 16 && a.lane == 1)
      plain_store_ = static_cast<int>(k);
  }

  void run(Core& core, std::span<const aicore::Gm> operands, std::int64_t first,
           std::int64_t last) const override {
    if (first >= last) return;
    Block block(core, *this);
    for (std::int64_t t = first; t < last; ++t) {
      const WindowTiling::Place place = t_.decode(t);
      Results& results = block.results[(t - first) & 1];
      Buffer* bias = nullptr;
      if (t_.spec.bias)
        bias = results.bias.load(core, operands[t_.epilogue_base() - 1], bias_dtype_, place.plane * 16,
                                 {1, place.tile.planes * 16});
      write_out(core, operands.subspan(t_.epilogue_base()), block, results, place, [&] {
        for (std::int64_t i = 0; i < t_.parts(); ++i)
          run_part(core, operands, block.next(), *results.acc, i == 0 ? bias : nullptr, place, i);
      });
    }
  }

  std::int64_t tile_key(std::int64_t tile) const override { return t_.decode(tile).shape_class; }

 private:
  /// f32 values in UB that may be stored in 16 bits.
  struct Values {
    Buffer* f32 = nullptr;
    Buffer* stored = nullptr;
    void alloc(Core& core, std::int64_t elements) {
      f32 = &core.alloc(Memory::UB, elements * 4);
      stored = &core.alloc(Memory::UB, elements * 4);
    }
    /// `rows` stretches of `n` elements, `stride` elements apart, one behind the other.
    struct Stretches {
      std::int64_t rows = 1, n = 0, stride = 0;
    };
    Buffer* load(Core& core, const aicore::Gm& src, DType dtype, std::int64_t element, const Stretches& s) {
      const std::int64_t e = bytes_of(dtype);
      Buffer& to = dtype == DType::F32 ? *f32 : *stored;
      core.copy_in(to, 0, src, element * e, {s.rows, s.n * e, s.stride * e, s.n * e});
      if (dtype != DType::F32) core.cast_in(*f32, RegType::F32, *stored, dtype, s.rows * s.n);
      return f32;
    }
  };
  struct Inputs {
    Buffer* patch = nullptr;
    Buffer* staging = nullptr;
    Values weights;
  };
  struct Results {
    Buffer* acc = nullptr;
    Values bias;
  };
  /// Two sets of buffers each: the next part is loaded while one is computed, the next tile's results grow
  /// while one's are stored.
  struct Block {
    Inputs inputs[2];
    Results results[2];
    std::int64_t parts = 0;
    Inputs& next() { return inputs[parts++ & 1]; }
    TileProgram::Buffers epilogue;
    std::pmr::vector<TileAddress> at;
    Block(Core& core, const WindowKernel& k)
        : epilogue(k.epilogue_, core, k.t_.epilogue_rows, 16),
          at(k.t_.spec.epilogue_operands.size(), core.scratch()) {
      const WindowTiling& t = k.t_;
      const std::int64_t patch = t.patch_elements();
      const aicore::WindowTile tile = t.geometry(t.planes, {0, 0, 0}, t.out);
      for (Inputs& in : inputs) {
        in.patch = &core.alloc(Memory::UB, patch * 4);
        in.staging = &core.alloc(Memory::UB, k.dtype_ == DType::F32 ? 1 : patch * bytes_of(k.dtype_));
        if (t.spec.kind == WindowKind::Depthwise) in.weights.alloc(core, t.planes * t.part_taps() * 16);
      }
      for (Results& r : results) {
        r.acc = &core.alloc(Memory::UB, t.planes * tile.pixels() * 64);
        if (t.spec.bias) r.bias.alloc(core, t.planes * 16);
      }
    }
  };

  void run_part(Core& core, std::span<const aicore::Gm> operands, Inputs& in, Buffer& acc, Buffer* bias,
                const WindowTiling::Place& place, std::int64_t number) const {
    const WindowSpec& s = t_.spec;
    const WindowTiling::Part part = t_.cut(place.tile, number);
    Buffer* weights = nullptr;
    if (s.kind == WindowKind::Depthwise) {
      const std::int64_t all = t_.taps() * 16, n = part.tile.taps() * 16, planes = place.tile.planes;
      // All taps of several planes are one stretch.
      weights =
          in.weights.load(core, operands[1], weight_dtype_, place.plane * all + part.first_tap * 16,
                          n == all ? Values::Stretches{1, planes * n, 0} : Values::Stretches{planes, n, all});
    }
    const std::int64_t plane_elements = s.axis[0].in * s.axis[1].in * s.axis[2].in * 16;
    const std::int64_t item = s.in_batch != 0 ? s.in_batch : s.c1 * plane_elements;
    const aicore::WindowPatch patch =
        core.load_window(*in.patch, *in.staging, operands[0],
                         place.batch * item + place.plane * plane_elements, dtype_, part.tile);
    core.window(acc, patch, weights, bias, part.tile);
  }

  // The windows, and their results through the epilogue: in runs over which every operand's address is
  // linear.
  template <class F>
  void write_out(Core& core, std::span<const aicore::Gm> operands, Block& block, Results& results,
                 const WindowTiling::Place& place, F windows) const {
    const WindowSpec& s = t_.spec;
    const aicore::WindowTile& tile = place.tile;
    const std::int64_t total = tile.planes * tile.pixels();
    const std::int64_t linear = std::min(t_.linear_run(tile), total);
    auto address = [&](std::int64_t pixel) {
      const std::int64_t w = pixel % tile.axis[2].out, h = pixel / tile.axis[2].out % tile.axis[1].out;
      const std::int64_t d = pixel / tile.axis[2].out / tile.axis[1].out % tile.axis[0].out;
      const std::int64_t p = pixel / tile.pixels();
      for (std::size_t k = 0; k < block.at.size(); ++k) {
        const ConvAddress& a = s.epilogue_operands[k];
        block.at[k] = {a.offset + place.batch * a.n + a.panel(place.plane + p) + (place.first[0] + d) * a.d +
                           (place.first[1] + h) * a.h + (place.first[2] + w) * a.w,
                       a.w, a.lane, a.lanes_from(place.plane + p, 16)};
      }
    };
    if (plain_store_ >= 0 && linear == total) {
      address(0);
      const std::size_t k = static_cast<std::size_t>(plain_store_);
      core.alias_out(*results.acc, operands[k], block.at[k].offset * 4, total * 64);
    }
    windows();
    for (std::int64_t done = 0; done < total;) {
      const std::int64_t run = std::min(linear - done % linear, t_.epilogue_rows);
      address(done);
      // The part of the accumulator that this run of pixels takes.
      Buffer part = *results.acc;
      part.data = part.data == nullptr ? nullptr : part.data + done * 64;
      epilogue_.run(core, block.epilogue, operands, block.at, run, 16, &part);
      results.acc->read = std::max(results.acc->read, part.read);
      done += run;
    }
  }

  WindowTiling t_;
  TileProgram epilogue_;
  DType dtype_, weight_dtype_ = DType::F32, bias_dtype_ = DType::F32;
  int plain_store_ = -1;  // the operand that takes the accumulator as it is
};

}  // namespace

StatusOr<Task> make_window(const WindowSpec& spec, std::vector<Operand> operands, const soc::Chip& chip) {
  WindowTiling t;
  t.spec = spec;
  ATC_TRY(check_window(t, operands));
  if (!t.empty()) {
    ATC_ASSIGN(const TileProgram epilogue, window_epilogue(spec, operands));
    if (!choose_window_tile(t, epilogue, operands, chip))
      return bad_params(kName, "the program leaves no room for a window in the Unified Buffer of " +
                                   std::string(chip.name));
  }
  Task task = pack_task(kName, std::move(operands), t.empty() ? 0 : t.tiles(), chip.vector_blocks(),
                        [&](auto& ar) { io_tiling(ar, t); });
  if (spec.kind == WindowKind::Depthwise) {
    task.macs = spec.batch * spec.c1 * 16;
    for (const WindowExtent& x : spec.axis) task.macs *= x.out * x.kernel;
  }
  return task;
}

std::vector<TilingField> describe_window(const Task& task) {
  WindowTiling t;
  if (!unpack_params(kName, task, [&](auto& ar) { io_tiling(ar, t); }).ok()) return {};
  return {{"channel_blocks", t.planes}, {"depth", t.out[0]}, {"height", t.out[1]}, {"width", t.out[2]}};
}

PrepareResult prepare_window(const Task& task, const soc::Chip&) {
  WindowTiling t;
  ParamReader r(task.params);
  if (task.params.empty() || task.params[0] < 0 || task.params[0] > static_cast<int>(WindowKind::Depthwise))
    return bad_params(kName, "unknown kind of window");
  io_tiling(r, t);
  if (!r.done()) return bad_params(kName, "they are incomplete");
  ATC_TRY(check_window(t, task.operands));
  ATC_TRY(check_blocks(task, t.empty() ? 0 : t.tiles()));
  ATC_ASSIGN(TileProgram epilogue, window_epilogue(t.spec, task.operands));
  return std::unique_ptr<PreparedKernel>(new WindowKernel(std::move(t), std::move(epilogue), task.operands));
}

// The windows' own input is read for many tiles; an epilogue operand is read where the output is written.
bool window_may_share(const Task& task, std::size_t input, std::size_t output) {
  WindowTiling t;
  if (!unpack_params(kName, task, [&](auto& ar) { io_tiling(ar, t); }).ok()) return false;
  const std::size_t base = t.epilogue_base();
  if (input < base || output < base) return false;
  const WindowSpec& s = t.spec;
  const ConvAddress& out = s.epilogue_operands[output - base];
  return s.epilogue_operands[input - base] == out &&
         one_to_one(out, s.batch, s.c1, {s.axis[0].out, s.axis[1].out, s.axis[2].out}, {1, 1, 1}) &&
         reads_before_writes(s.epilogue, input - base, task.operands[input].dtype, output - base);
}

}  // namespace atc::kernels
