#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <vector>

#include "aicore/block_sync.h"
#include "aicore/index_tiles.h"
#include "aicore/tile_copy.h"
#include "aicore/vector_ops.h"
#include "aicore/window.h"
#include "atc/base/bytes.h"
#include "atc/base/dtype.h"
#include "atc/base/scratch_arena.h"
#include "soc/chip.h"

namespace atc::aicore {

/// The in-order pipes of a core. Pipes run concurrently; instructions wait for the buffers they touch.
enum class Pipe : std::uint8_t { S, V, M, MTE1, MTE2, MTE3, FIX };
inline constexpr int kPipeCount = 7;
std::string_view name(Pipe p);

enum class Memory : std::uint8_t { UB, L1, L0A, L0B, L0C };
inline constexpr int kMemoryCount = 5;
std::string_view name(Memory m);

using Cycle = std::int64_t;

/// How a core treats values.
enum class Values : std::uint8_t {
  None,     ///< dry run: cycles only, no memory is touched
  Fast,     ///< copies may be aliases, cube tiles go to host micro-kernels
  Literal,  ///< every byte is moved as the instructions say
};

/// A task operand in Global Memory. Accesses are checked against `bytes`. In a dry run `data` is null.
struct Gm {
  std::byte* data = nullptr;
  std::int64_t bytes = 0;
  bool in_l2 = false;  ///< resident in L2 for the whole task (decided at launch)
  /// Thousandths of what the task moves of the operand that L2 must fetch from or write back to DDR or HBM;
  /// the rest stays in L2. Of no account when `in_l2`.
  int ddr_permille = 1000;
  std::int64_t* moved = nullptr;  ///< where the core adds up the bytes it moves of the operand, if anywhere
};

/// An on-chip buffer: a stretch of one memory with the times at which it may be touched.
struct Buffer {
  Memory memory = Memory::UB;
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  std::byte* own = nullptr;      ///< the buffer's place in the simulated memory
  std::byte* data = nullptr;     ///< where its contents are: `own`, or an alias of Global Memory
  std::byte* pending = nullptr;  ///< where the next instruction that writes the buffer puts its result
  Cycle written = 0;             ///< end of the last write
  Cycle read = 0;                ///< end of the last read
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data);
  }
};

/// `count` blocks of `bytes` each; strides are start to start, in bytes.
struct Burst {
  std::int64_t count = 1;
  std::int64_t bytes = 0;
  std::int64_t gm_stride = 0;
  std::int64_t local_stride = 0;
};

/// A register of a vector program in a buffer.
struct VecRef {
  Buffer* buffer = nullptr;
  Lanes lanes = Lanes::Full;
};

/// What a run took. `busy` counts the cycles each pipe worked.
struct Stats {
  Cycle cycles = 0;
  std::array<Cycle, kPipeCount> busy{};
  std::int64_t gm_read = 0, gm_written = 0;  ///< bytes
  std::int64_t instructions = 0;
};

/// One instruction of a traced run.
struct TraceEvent {
  Pipe pipe = Pipe::S;
  std::string_view name;
  Cycle start = 0, end = 0;
  std::int64_t bytes = 0;
};

/// Lanes of the reduction in one fractal of a cube operand: the cube's step is 16 x 16 x 16, of int8 16 x 32
/// x 16.
constexpr int cube_lanes(DType dtype) { return dtype == DType::I8 ? 32 : 16; }

/// How Fast mode keeps an L0C tile of [m][panels * 16] so that Fixpipe need not move it.
enum class AccLayout : std::uint8_t {
  Panels,  ///< [panel][m][16]
  Pairs,   ///< [panel / 2][m][32]; a last single panel is [m][16]
  Rows,    ///< [m][panels * 16]
};

/// Addresses of the im2col rows of a cube operand: row r at step (k1, tap) starts at element
/// base[r] + k1 * k1_stride + tap_offset[tap] of the A tile, or is zero when the tap falls outside the
/// input plane. Products of matrices have one tap and no plane. `k_valid` lanes of the last k1 count.
struct RowMap {
  RowMap() = default;
  /// With lists in `memory`, such as Core::scratch().
  explicit RowMap(std::pmr::memory_resource* memory)
      : base(memory),
        row_h(memory),
        row_w(memory),
        tap_offset(memory),
        tap_h(memory),
        tap_w(memory),
        b_tap(memory) {}
  std::pmr::vector<std::int64_t> base;        ///< one a row
  std::pmr::vector<int> row_h, row_w;         ///< input coordinates of tap (0,0); empty without a plane
  std::pmr::vector<std::int64_t> tap_offset;  ///< one a tap
  std::pmr::vector<int> tap_h, tap_w;         ///< displacement of each tap; empty without a plane
  int height = 0, width = 0;                  ///< the input plane (rows relative to the tile's first)
  std::int64_t k1_stride = 0;
  int k1 = 1;       ///< C0 blocks of the reduction in this tile
  int k_last = 16;  ///< valid lanes of the last one
  int pad = 0;      ///< what taps outside the plane read; other than 0 for int8 only
  /// 0: each tap fills a fractal. Else taps lie side by side in fractals, `tap_lanes` lanes apart; k1 is 1.
  int tap_lanes = 0;
  std::pmr::vector<std::int64_t>
      b_tap;                     ///< place of each tap within one k1 of B: fractals, or tap_lanes lanes
  std::int64_t b_k1_stride = 1;  ///< fractals from one k1 to the next in B
  int rows() const { return static_cast<int>(base.size()); }
  int taps() const { return static_cast<int>(tap_offset.size()); }
};

/// A tile of a gather: dst[o][j][i] = data[o][row(j)][i], dst dense. An index below zero counts from the end
/// of the axis; one out of range gives zeros.
struct GatherTile {
  int element_bytes = 4;
  std::int64_t outer = 1, count = 1, inner = 1;
  std::int64_t axis = 1;          ///< rows that an index may name
  std::int64_t outer_stride = 0;  ///< of data in Global Memory, in elements
  std::int64_t row_stride = 0;
};

/// A tile of an interpolation, f32: dst[o][j][i] = sum over t of weight[j][t] * src[o][index[j][t] -
/// first][i]. Taps of weight zero are not read.
struct InterpolateTile {
  std::int64_t outer = 1, count = 1, inner = 1, taps = 1;
  std::int64_t first = 0, rows = 1;  ///< rows of the axis that src holds
};

/// One AI Core (or one vector core) that runs one block of one task.
class Core {
 public:
  /// `timing`: keep a timeline. Fast values without timing is the quick path.
  Core(const soc::Chip& chip, Values values, bool timing);
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  const soc::Chip& chip() const { return chip_; }
  Values values() const { return values_; }
  bool computes() const { return values_ != Values::None; }
  bool timing() const { return timing_; }

  /// Forgets all buffers and times; `active_cores` share the chip's GM bandwidth.
  void start_block(int active_cores);
  Stats stats() const;
  void set_trace(std::vector<TraceEvent>* trace) { trace_ = trace; }

  /// Takes `bytes` (rounded up to the memory's alignment) of a memory. Throws InternalError, naming
  /// the memory, its capacity and what was asked, when they do not fit.
  Buffer& alloc(Memory memory, std::int64_t bytes);
  /// Host memory for what a block of a kernel keeps, until the next start_block.
  std::pmr::memory_resource* scratch() { return &scratch_; }
  /// Free bytes of a memory.
  std::int64_t available(Memory memory) const;

  // MTE2, MTE3 -----------------------------------------------------------------------------------
  /// Global Memory to UB or L1. May alias in Fast mode when the copy is one contiguous stretch to the
  /// start of `dst`.
  void copy_in(Buffer& dst, std::int64_t dst_offset, const Gm& src, std::int64_t src_offset, Burst burst);
  /// UB to Global Memory.
  void copy_out(const Gm& dst, std::int64_t dst_offset, Buffer& src, std::int64_t src_offset, Burst burst);
  /// In Fast mode the next instruction that writes `buffer` writes to this stretch of Global Memory, to
  /// which copy_out will move it.
  void alias_out(Buffer& buffer, const Gm& dst, std::int64_t dst_offset, std::int64_t bytes);
  /// Where an instruction writes: its own memory again, or what alias_out has set.
  std::byte* writable(Buffer& buffer) {
    buffer.data = buffer.pending != nullptr ? buffer.pending : buffer.own;
    buffer.pending = nullptr;
    return buffer.data;
  }

  // Strided copies (tile_copy.cc) ------------------------------------------------------------------
  /// Global Memory to Global Memory through `load` (when it permutes) and `store`: a macro-instruction
  /// over a tile of extents `n`; origins in elements.
  void copy_tile(const TileCopy& copy, const TileCopy::Extents& n, const Gm& dst, std::int64_t dst_element,
                 const Gm& src, std::int64_t src_element, Buffer& load, Buffer& store);
  /// The tile's destination becomes the element at `value`.
  void fill_tile(const TileCopy& copy, const TileCopy::Extents& n, const Gm& dst, std::int64_t dst_element,
                 const void* value, Buffer& store);

  // Gathers (gather_unit.cc) ----------------------------------------------------------------------
  /// Rows of Global Memory into UB: each index is read on the scalar pipe and its row is a DataCopy of
  /// `outer` bursts.
  void gather_rows(Buffer& dst, const Gm& data, std::int64_t data_element, const Gm& index,
                   std::int64_t first_index, DType index_type, const GatherTile& tile);
  /// Gather within UB: `data` holds [outer][axis][inner], `index` the tile's indices.
  void gather_local(Buffer& dst, Buffer& data, Buffer& index, DType index_type, const GatherTile& tile);

  /// Scatter within UB (scatter_unit.cc): `updates` holds [count][inner], `index` the tile's indices.
  void scatter_local(Buffer& dst, Buffer& updates, Buffer& index, DType index_type, const ScatterTile& tile);

  // Scans and sorts (scan_unit.cc, sort_unit.cc) ----------------------------------------------------
  /// dst = the running reduction of src; `carry` holds one total for each row (or column).
  void scan(Buffer& dst, Buffer& src, Buffer& carry, const ScanTile& tile);
  /// Joins `values` [rows][count] with the sorted `best` [rows][keep], of which `have` are set, and leaves
  /// the best min(keep, have + count) there. `index` (I32, like `best_index`) goes with `values`; null:
  /// positions.
  void top_rows(Buffer& best, Buffer& best_index, Buffer& values, Buffer* index, const TopTile& tile);

  // Windows (window_unit.cc) ----------------------------------------------------------------------
  /// The input of a tile of windows, padded and as f32, in `patch`; `staging` takes it first when it is
  /// stored in 16 bits. `element` is where the tile's first plane begins.
  WindowPatch load_window(Buffer& patch, Buffer& staging, const Gm& src, std::int64_t element, DType dtype,
                          const WindowTile& tile);
  /// acc[plane][pixel][16] = the windows over the patch; weights [plane][tap][16] and bias [plane][16] are
  /// f32.
  void window(Buffer& acc, const WindowPatch& patch, Buffer* weights, Buffer* bias, const WindowTile& tile);

  /// Interpolation within UB (interpolate_unit.cc). Throws InternalError when an index (i32) names a row that
  /// src does not hold.
  void interpolate(Buffer& dst, Buffer& src, Buffer& index, Buffer& weight, const InterpolateTile& tile);

  // V ----------------------------------------------------------------------------------------------
  /// Duplicate: `count` elements of `bytes_each` bytes, from byte offset `offset`.
  void fill(Buffer& dst, std::int64_t offset, std::int64_t count, int bytes_each, const void* value);
  /// Element-wise op on a tile of rows x cols; lanes say how each operand spreads over it.
  void vector(VecOp op, RegType type, VecRef dst, VecRef a, VecRef b, VecRef c, double imm, int rows,
              int cols, RegType operand_type);
  /// dst (PerRow when `rows_axis`, else PerCol) = reduction of the full tile a; `accumulate` joins what
  /// dst already holds.
  void reduce(VecOp op, RegType type, Buffer& dst, Buffer& a, bool per_row, int rows, int cols,
              bool accumulate);
  /// Cast between storage and registers: `count` elements.
  void cast_in(Buffer& dst, RegType to, Buffer& src, DType from, std::int64_t count);
  void cast_out(Buffer& dst, DType to, Buffer& src, RegType from, std::int64_t count);
  /// The vector instructions from begin_fused to end_fused are one, `what` ("AddReluCast"): it takes as long
  /// as the longest of them. They must be what the vector unit has as one instruction.
  void begin_fused() { fusing_ = true; }
  void end_fused(std::string_view what);
  /// UB to UB with element strides: dst[i * dst_stride + j] = src[i * src_stride + j * src_step].
  void copy_ub(Buffer& dst, std::int64_t dst_offset, Buffer& src, std::int64_t src_offset, int element_bytes,
               std::int64_t rows, std::int64_t cols, std::int64_t dst_row_stride, std::int64_t src_row_stride,
               std::int64_t src_col_stride, std::int64_t dst_col_stride = 1);

  // S ----------------------------------------------------------------------------------------------
  /// Reads an index (i32 or i64) of Global Memory on the scalar pipe. In a dry run gives 0.
  std::int64_t read_scalar(const Gm& src, std::int64_t element, DType dtype);

  // Cube -------------------------------------------------------------------------------------------
  /// An operand tile of the L1 product. Elements have the storage dtype; in Fast mode those of A are f32 (an
  /// alias or a widened copy), of an int8 product i16.
  struct CubeTile {
    Buffer* buffer = nullptr;
    const std::byte* data = nullptr;
    std::int64_t row_stride = 16;   ///< A: elements from one row to the next
    std::int64_t k1_stride = 0;     ///< A: elements from one block of columns (one C0 slab) to the next
    std::int64_t panel_stride = 0;  ///< B: elements from one n1 panel to the next
  };
  /// A from a row-major matrix, rows x cols (cols x rows when `transposed`): to NZ [cols/C0][rows][C0], zero
  /// padded; in Fast mode row-major. With a `block_stride` the matrix as stored is in FRACTAL_NZ: blocks of
  /// C0 of its columns (whole ones) are that many elements apart, their rows C0, whatever `row_stride` says.
  CubeTile load_matrix_a(Buffer& l1, const Gm& src, std::int64_t element_offset, DType dtype, int rows,
                         int cols, std::int64_t row_stride, bool transposed = false,
                         std::int64_t block_stride = 0);
  /// A from an NC1HWC0 tensor: `c1` slabs, `c1_stride` elements apart, of `rows` stretches of `row_elements`,
  /// `row_stride` apart. In the result rows are plane_pitch() apart.
  CubeTile load_plane(Buffer& l1, const Gm& src, std::int64_t element_offset, DType dtype, int c1,
                      std::int64_t rows, std::int64_t row_elements, std::int64_t row_stride,
                      std::int64_t c1_stride);
  /// Elements from one row to the next in what load_plane gives: dense, but Fast mode leaves f32 in place.
  std::int64_t plane_pitch(DType dtype, std::int64_t row_elements, std::int64_t row_stride) const {
    return values_ == Values::Fast && dtype == DType::F32 ? row_stride : row_elements;
  }
  /// B that is packed already, [n1][k fractals][16 k][16 n], of int8 [n1][k fractals][16 k][16 n][2 k]:
  /// `panels` stretches of `fractals` fractals.
  CubeTile load_panels(Buffer& l1, const Gm& src, std::int64_t element_offset, DType dtype, int panels,
                       std::int64_t fractals, std::int64_t panel_stride);
  /// B from a row-major matrix, k x n (n x k when `transposed`), to packed panels, zero padded. With a
  /// `block_stride` the matrix is in FRACTAL_NZ, of 16 or 32 bits, as for load_matrix_a.
  CubeTile load_matrix_b(Buffer& l1, const Gm& src, std::int64_t element_offset, DType dtype, int k, int n,
                         std::int64_t row_stride, bool transposed, std::int64_t block_stride = 0);

  /// A from UB: the dense rows x cols matrix in `ub`, of the cube's dtype, becomes the slabs from
  /// `first_slab` on of an A tile [slabs][rows][16] in `l1`, one DataCopy of one block a row for each slab.
  /// In Fast mode the elements become f32. Gives the whole tile.
  CubeTile store_slabs(Buffer& l1, std::int64_t first_slab, Buffer& ub, DType dtype, int rows, int cols);

  /// A from a dense matrix rows x cols of the Unified Buffer, stored as `dtype`: to NZ, zero padded. On split
  /// cores the tile goes through L2. In Fast mode f32 stays where it is, so `ub` must hold it until the
  /// product.
  CubeTile move_matrix_a(Buffer& l1, Buffer& ub, DType dtype, int rows, int cols);

  /// The L0 buffers of a product, two of each operand for ping-pong.
  struct CubeBuffers {
    Buffer* l0a[2] = {nullptr, nullptr};
    Buffer* l0b[2] = {nullptr, nullptr};
    int next = 0;
  };
  /// The L1 tile product, a macro-instruction: L0C (+)= A (rows by map) x B (panels of 16 columns). Its
  /// expansion into LoadData and Mmad on L0 slices of `k_slice` fractals is in cube_expansion.cc.
  /// Accumulators are f32, of int8 operands i32 (wrapping).
  void l1_product(Buffer& l0c, CubeBuffers& l0, const CubeTile& a, const RowMap& rows, const CubeTile& b,
                  DType dtype, int panels, int k_slice, bool accumulate, AccLayout layout);
  /// Rows [row0, row0 + rows) of an L0C tile of m rows and `panels` panels to UB, dense: of panel `panel`
  /// alone (Panels, and a last single panel of Pairs), of it and the next (Pairs, even panels), or of all
  /// (Rows). In Fast mode an alias.
  void fixpipe(Buffer& ub, Buffer& l0c, int m, int row0, int rows, int panel, int panels, AccLayout layout);

  // Explicit order --------------------------------------------------------------------------------
  /// The simulated memory itself, for programs that place their own tensors. Null in a dry run.
  std::byte* memory(Memory m) const { return arenas_[static_cast<std::size_t>(m)].base; }
  /// Books an instruction of a program whose flags and barriers order the pipes: it begins when its pipe is
  /// free, not before `after`. Gives its end.
  Cycle book(Pipe pipe, Cycle duration, std::string_view what, std::int64_t bytes, Cycle after);
  /// When what `pipe` was given is done.
  Cycle free_at(Pipe pipe) const { return pipe_free_[static_cast<std::size_t>(pipe)]; }
  /// Cycles of a copy of `blocks` stretches between Global Memory and the core.
  Cycle gm_cycles(const Gm& gm, std::int64_t blocks, std::int64_t block_bytes, bool write) const;

  // Other blocks ---------------------------------------------------------------------------------
  /// Makes the block one of a group (see BlockGroup); until start_block.
  void join_group(BlockSync* sync) { sync_ = sync; }
  /// CrossCoreSetFlag: sets `flag`, 0 to 10, when `pipe` has done what it was given.
  void cross_core_set_flag(int flag, Pipe pipe, FlagReach reach = FlagReach::Kind);
  /// CrossCoreWaitFlag: nothing begins before every block that the flag is for has set it as often as this
  /// block has waited for it. InternalError for a block that is alone, when it has not set the flag itself.
  void cross_core_wait_flag(int flag);
  /// SyncAll: nothing begins before every block of its kind (All: of the task) is here with its work done.
  void sync_all(FlagReach reach = FlagReach::Kind);

  /// Scalar work of address generation and loop control, in cycles of pipe S.
  void scalar(Cycle cycles);

 private:
  void expand_copy(const TileCopy& copy, const TileCopy::Extents& n, const Gm& dst, std::int64_t dst_element,
                   const Gm& src, std::int64_t src_element, Buffer& load, Buffer& store);
  void expand_window_load(Buffer& patch, Buffer& staging, const Gm& src, std::int64_t element, DType dtype,
                          const WindowTile& tile);
  void window_rows(Buffer& acc, const WindowPatch& patch, Buffer* weights, Buffer* bias,
                   const WindowTile& tile);
  CubeTile loaded(Buffer& l1, const Gm& src, DType dtype, std::int64_t blocks, std::int64_t block_elements,
                  std::int64_t elements);
  void check_matrix(const Gm& src, std::int64_t element_offset, DType dtype, std::int64_t rows,
                    std::int64_t cols, std::int64_t row_stride, std::int64_t block_stride) const;
  const std::byte* from_blocks(const std::byte* blocks, std::int64_t e, std::int64_t rows, std::int64_t cols,
                               std::int64_t lanes, std::int64_t block_stride);
  void copy_slabs(CubeTile& tile, Buffer& l1, const std::byte* from, DType dtype, int c1, std::int64_t rows,
                  std::int64_t row_elements, std::int64_t row_stride, std::int64_t c1_stride);
  void expand_product(Buffer& l0c, CubeBuffers& l0, const CubeTile& a, const RowMap& rows, const CubeTile& b,
                      DType dtype, int panels, int k_slice, bool accumulate);
  void wait_for_blocks(int flag, std::string_view what);
  void check_gm(const Gm& gm, std::int64_t offset, std::int64_t bytes) const;
  /// Books an instruction: starts when its pipe is free, `reads` are written and `writes` are free.
  void issue(Pipe pipe, Cycle duration, std::string_view what, std::int64_t bytes,
             std::span<Buffer* const> reads, std::span<Buffer* const> writes);
  void issue(Pipe pipe, Cycle duration, std::string_view what, std::int64_t bytes,
             std::initializer_list<Buffer*> reads, std::initializer_list<Buffer*> writes);

  const soc::Chip& chip_;
  Values values_;
  bool timing_;
  int active_cores_ = 1;
  struct Arena {
    std::int64_t capacity = 0;
    std::int64_t used = 0;
    std::byte* base = nullptr;
  };
  std::array<Arena, kMemoryCount> arenas_;
  MutableBytes host_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  ScratchArena scratch_;
  std::size_t buffers_used_ = 0;
  std::array<Cycle, kPipeCount> pipe_free_{};
  Stats stats_;
  std::vector<TraceEvent>* trace_ = nullptr;
  BlockSync* sync_ = nullptr;
  // Scratch of Fast mode.
  std::vector<const float*> row_pointers_;
  std::vector<float> widened_;
  std::vector<std::byte> turned_, row_major_;
  std::vector<std::int64_t> gathered_;
  // What a fused instruction has gathered.
  bool fusing_ = false;
  Cycle fused_duration_ = 0;
  std::int64_t fused_bytes_ = 0;
  std::vector<Buffer*> fused_reads_, fused_writes_;
};

}  // namespace atc::aicore
