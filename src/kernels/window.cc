#include "kernels/window.h"

#include <algorithm>

#include "atc/base/check.h"
#include "kernels/kernel_list.h"
#include "kernels/program_params.h"
#include "kernels/window_tiling.h"

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
  for (WindowExtent& x : s.axis)
    for (std::int64_t* v : {&x.in, &x.out, &x.kernel, &x.stride, &x.dilation, &x.pad_begin, &x.pad_end})
      ar.io(*v);
  ar.io(t.planes);
  for (std::int64_t& n : t.out) ar.io(n);
  ar.io(t.epilogue_rows);
  io_list(ar, s.epilogue_operands, [](auto& a, ConvAddress& x) {
    for (std::int64_t* v : {&x.offset, &x.n, &x.c1, &x.d, &x.h, &x.w, &x.lane, &x.c0}) a.io(*v);
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
      Set& set = block.sets[(t - first) & 1];
      const WindowSpec& s = t_.spec;
      const std::int64_t plane_elements = s.axis[0].in * s.axis[1].in * s.axis[2].in * 16;
      Buffer* weights = nullptr;
      Buffer* bias = nullptr;
      if (s.kind == WindowKind::Depthwise) {
        const std::int64_t each = place.tile.taps() * 16;
        weights =
            set.weights.load(core, operands[1], weight_dtype_, place.plane * each, place.tile.planes * each);
      }
      if (s.bias)
        bias = set.bias.load(core, operands[t_.epilogue_base() - 1], bias_dtype_, place.plane * 16,
                             place.tile.planes * 16);
      const aicore::WindowPatch patch =
          core.load_window(*set.patch, *set.staging, operands[0],
                           (place.batch * s.c1 + place.plane) * plane_elements, dtype_, place.tile);
      write_out(core, operands.subspan(t_.epilogue_base()), block, set, place,
                [&] { core.window(*set.acc, patch, weights, bias, place.tile); });
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
    Buffer* load(Core& core, const aicore::Gm& src, DType dtype, std::int64_t element, std::int64_t n) {
      const std::int64_t e = bytes_of(dtype);
      Buffer& to = dtype == DType::F32 ? *f32 : *stored;
      core.copy_in(to, 0, src, element * e, {1, n * e});
      if (dtype != DType::F32) core.cast_in(*f32, RegType::F32, *stored, dtype, n);
      return f32;
    }
  };
  struct Set {
    Buffer* patch = nullptr;
    Buffer* staging = nullptr;
    Buffer* acc = nullptr;
    Values weights, bias;
  };
  /// Two sets of buffers: the next tile is loaded while one is computed.
  struct Block {
    Set sets[2];
    TileProgram::Buffers epilogue;
    std::vector<TileAddress> at;
    Block(Core& core, const WindowKernel& k)
        : epilogue(k.epilogue_, core, k.t_.epilogue_rows, 16), at(k.t_.spec.epilogue_operands.size()) {
      const WindowTiling& t = k.t_;
      const std::int64_t patch = t.patch_elements();
      const aicore::WindowTile tile = t.geometry(t.planes, {0, 0, 0}, t.out);
      for (Set& set : sets) {
        set.patch = &core.alloc(Memory::UB, patch * 4);
        set.staging = &core.alloc(Memory::UB, k.dtype_ == DType::F32 ? 1 : patch * bytes_of(k.dtype_));
        set.acc = &core.alloc(Memory::UB, t.planes * tile.pixels() * 64);
        if (t.spec.kind == WindowKind::Depthwise) set.weights.alloc(core, t.planes * tile.taps() * 16);
        if (t.spec.bias) set.bias.alloc(core, t.planes * 16);
      }
    }
  };

  // The windows, and their results through the epilogue: in runs over which every operand's address is
  // linear.
  template <class F>
  void write_out(Core& core, std::span<const aicore::Gm> operands, Block& block, Set& set,
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
                       a.w, a.lane};
      }
    };
    if (plain_store_ >= 0 && linear == total) {
      address(0);
      const std::size_t k = static_cast<std::size_t>(plain_store_);
      core.alias_out(*set.acc, operands[k], block.at[k].offset * 4, total * 64);
    }
    windows();
    for (std::int64_t done = 0; done < total;) {
      const std::int64_t run = std::min(linear - done % linear, t_.epilogue_rows);
      address(done);
      // The part of the accumulator that this run of pixels takes.
      Buffer part = *set.acc;
      part.data = part.data == nullptr ? nullptr : part.data + done * 64;
      epilogue_.run(core, block.epilogue, operands, block.at, run, 16, &part);
      set.acc->read = std::max(set.acc->read, part.read);
      done += run;
    }
  }

  WindowTiling t_;
  TileProgram epilogue_;
  DType dtype_, weight_dtype_ = DType::F32, bias_dtype_ = DType::F32;
  int plain_store_ = -1;  // the operand that takes the accumulator as it is
};

}  // namespace

bool window_fits(std::span<const std::int64_t> kernel, std::span<const std::int64_t> dilations,
                 bool depthwise, const soc::Chip& chip) {
  const double room = static_cast<double>(chip.ub - 16 * 1024) / 2;  // two sets of buffers
  double positions = 1, taps = 1;  // as doubles: no product of extents overflows
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    positions *= static_cast<double>((kernel[i] - 1)) * static_cast<double>(dilations[i]) + 1;
    taps *= static_cast<double>(kernel[i]);
  }
  // 16 lanes as stored (fp16) and as f32; weights and products of a depthwise convolution in f32.
  return positions * 16 * (2 + 4) + (depthwise ? taps * 2 * 64 : 0) <= room;
}

StatusOr<Task> make_window(const WindowSpec& spec, std::vector<Operand> operands, const soc::Chip& chip) {
  WindowTiling t;
  t.spec = spec;
  ATC_TRY(check_window(t, operands));
  if (!t.empty()) {
    ATC_ASSIGN(const TileProgram epilogue, window_epilogue(spec, operands));
    if (!choose_window_tile(t, epilogue, operands, chip))
      return bad_params(kName, "one window is larger than the Unified Buffer of " + std::string(chip.name));
  }
  Task task;
  task.kernel = kName;
  task.operands = std::move(operands);
  ParamWriter w;
  io_tiling(w, t);
  task.params = w.take();
  task.block_tiles = split_tiles(t.empty() ? 0 : t.tiles(), chip.vector_blocks());
  if (spec.kind == WindowKind::Depthwise) {
    task.macs = spec.batch * spec.c1 * 16;
    for (const WindowExtent& x : spec.axis) task.macs *= x.out * x.kernel;
  }
  return task;
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

}  // namespace atc::kernels
