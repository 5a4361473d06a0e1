#pragma once

#include <array>
#include <span>
#include <vector>

#include "aicore/core.h"
#include "kernels/vector_program.h"

namespace atc::kernels {

/// How the reductions of a program run over a tile.
enum class ReduceMode : std::uint8_t {
  None,
  Rows,  ///< along each row: one result a row
  Cols,  ///< down each column: one result a column
};

/// Columns of a block of FRACTAL_NZ.
inline constexpr std::int64_t kBlockCols = 16;

/// Where operand k of a tile lies: element offset and strides of rows and columns (0 broadcasts). The operand
/// may have fewer columns than the tile: others are not stored, and hold anything when loaded.
struct TileAddress {
  std::int64_t offset = 0;
  std::int64_t row_stride = 0;
  std::int64_t col_stride = 0;
  std::int64_t cols = 0;  ///< columns that exist; 0: all of the tile's
  bool stores = true;     ///< false: another tile stores these elements
  int index = -1;  ///< operand whose elements from first_index on name the tile's rows among table_rows
  std::int64_t first_index = 0, table_rows = 0;
  std::int64_t block_stride = 0;  ///< of a blocked operand: from one block of 16 columns to the next

  /// Elements from column 0 to column `col`, which begins a block where there are blocks.
  std::int64_t to_col(std::int64_t col) const {
    return block_stride != 0 ? col / kBlockCols * block_stride : col * col_stride;
  }
};

/// A vector program made ready for tiles of rows x cols: lanes of each register, UB slots by live range,
/// and the passes that reductions need when a row (or column) is longer than UB holds. Immutable.
class TileProgram {
 public:
  /// `lanes[k]` and `dtypes[k]` describe operand k; `turned[k]`: its columns, not its rows, are stretches of
  /// Global Memory (is_turned), so that tiles are transposed in UB; `blocked[k]`: blocks of 16 columns are,
  /// row behind row (FRACTAL_NZ), of Full lanes. E10041 when the program is not well formed.
  static StatusOr<TileProgram> create(const VectorProgram& program, std::vector<Lanes> lanes,
                                      std::vector<DType> dtypes, ReduceMode mode,
                                      std::vector<bool> turned = {}, std::vector<bool> blocked = {});

  /// UB bytes that tiles of at most rows x cols take (ping-pong sets included).
  std::int64_t ub_bytes(std::int64_t rows, std::int64_t cols) const;
  bool reduces() const { return mode_ != ReduceMode::None; }
  ReduceMode mode() const { return mode_; }
  const VectorProgram& program() const { return program_; }
  Lanes operand_lanes(std::size_t k) const { return operand_lanes_[k]; }

  /// The UB slots of one block.
  class Buffers {
   public:
    Buffers(const TileProgram& program, aicore::Core& core, std::int64_t rows, std::int64_t cols);

   private:
    friend class TileProgram;
    struct Set {
      explicit Set(std::pmr::memory_resource* memory) : slots(memory), staging(memory), turned(memory) {}
      std::pmr::vector<aicore::Buffer*> slots;
      std::pmr::vector<aicore::Buffer*> staging;  // one an operand whose storage differs from its register
      std::pmr::vector<aicore::Buffer*> turned;   // columns of turned operands; null for others
      aicore::Buffer* rows = nullptr;             // of a blocked operand, between its Cast's two steps
    };
    std::array<Set, 2> sets_;
    std::size_t next_ = 0;
    std::int64_t max_rows_, max_cols_;
  };

  /// One tile. Reductions run over the tile's whole reduced axis; when that is longer than the buffers'
  /// rows or cols, the tile is walked in chunks, once for each dependent reduction and once more for
  /// the stores. `acc`: the accumulator (dense rows x cols f32) that Acc reads.
  void run(aicore::Core& core, Buffers& buffers, std::span<const aicore::Gm> operands,
           std::span<const TileAddress> at, std::int64_t rows, std::int64_t cols,
           aicore::Buffer* acc = nullptr) const;

 private:
  struct Register {
    RegType type = RegType::F32;
    Lanes lanes = Lanes::Scalar;
    int slot = -1;
    int level = 0;         // reductions it depends on, in depth
    bool chunked = false;  // depends on the position along the reduced axis
    bool constant = false;
    bool acc = false;  // the accumulator: read where the caller has it
  };
  struct Slot {
    Lanes lanes;
    int bytes;
  };
  /// The part of a tile that one pass step covers.
  struct Chunk {
    std::span<const aicore::Gm> operands;
    std::span<const TileAddress> at;
    std::int64_t row0, rows;
    std::int64_t col0, cols;
    bool first;  // of the chunks along the reduced axis
    aicore::Buffer* acc;
    std::int64_t acc_cols;
  };
  /// A step of a chain: its instruction, the register that it goes on from and its other operand (-1: none).
  static constexpr int kNoMember = -2;
  struct ChainMember {
    std::size_t instr = 0;
    int source = -1;
    int operand = kNoMember;
  };
  Status analyse();
  void assign_slots();
  void find_fused();
  void find_needed();
  void find_chains();
  bool stays_until(const std::vector<ChainMember>& members, std::size_t end) const;
  void execute_chain(const std::vector<ChainMember>& members, Buffers::Set& set, const Chunk& chunk,
                     aicore::Core& core) const;
  void run_pass(aicore::Core& core, Buffers::Set& set, const Chunk& chunk, int level, bool once) const;
  void execute(std::size_t index, aicore::Core& core, Buffers::Set& set, const Chunk& chunk) const;
  aicore::VecRef place(int reg, Buffers::Set& set, const Chunk& chunk) const;
  aicore::Buffer* spread(std::size_t index, int reg, Lanes lanes, aicore::Core& core, Buffers::Set& set,
                         const Chunk& chunk) const;
  void load(const VecInstr& instr, aicore::Core& core, Buffers::Set& set, const Chunk& chunk) const;
  void load_blocks(std::size_t k, aicore::Core& core, Buffers::Set& set, const Chunk& chunk,
                   aicore::Buffer& slot, RegType type) const;
  std::int64_t rows_bytes(std::int64_t rows, std::int64_t cols) const;
  void store(std::size_t index, aicore::Core& core, Buffers::Set& set, const Chunk& chunk) const;
  bool is_turned(std::size_t k) const { return k < turned_.size() && turned_[k]; }
  bool is_blocked(std::size_t k) const { return k < blocked_.size() && blocked_[k]; }
  void alias_store(std::size_t index, aicore::Core& core, Buffers::Set& set, const Chunk& chunk) const;

  VectorProgram program_;
  std::vector<Lanes> operand_lanes_;
  std::vector<DType> dtypes_;
  std::vector<bool> turned_, blocked_;
  ReduceMode mode_ = ReduceMode::None;
  std::vector<Register> registers_;
  std::vector<Slot> slots_;
  int levels_ = 0;                         // depth of dependent reductions
  std::vector<std::vector<bool>> needed_;  // [level][instr]: run in the pass of that level
  std::vector<int> spread_slot_;           // [instr]: where a broadcast operand is spread, or -1
  std::vector<int> fused_;  // [instr]: how many instructions from here on are one of the vector unit's, or 0
  std::vector<int> stored_by_;  // [instr]: the Store that its result goes to directly, or -1
  std::vector<std::vector<ChainMember>> chains_;  // instructions that Fast mode runs as one pass
  std::vector<int> chain_of_;                     // [instr]: which one it is part of, or -1
};

/// Storage that needs no Cast on its way into a register of its type.
bool is_direct(DType dtype, RegType type);

/// Lanes of an operand with these strides in tiles of a rows x cols space.
Lanes lanes_of(std::int64_t row_stride, std::int64_t col_stride, std::int64_t rows, std::int64_t cols);

/// Whether an operand with these strides is better moved column by column: its rows are neighbours, its
/// columns are not.
inline bool is_turned(std::int64_t row_stride, std::int64_t col_stride, std::int64_t rows,
                      std::int64_t cols) {
  return rows > 1 && cols > 1 && row_stride == 1 && col_stride > 1;
}

}  // namespace atc::kernels
