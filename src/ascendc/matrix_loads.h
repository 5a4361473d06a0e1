#pragma once

#include <algorithm>

#include "ascendc/core_block.h"
#include "atc/base/math.h"

// Matrices on their way to the cube unit: Global Memory or the Unified Buffer to L1 as columns of blocks, L1
// to L0A and L0B as fractals.
namespace atc::ascendc {

inline constexpr std::int64_t kFractal = 512, kRow = 32, kEdge = 16;

/// One operand: how its stored matrix becomes fractals.
struct Operand {
  const AtcMatrix* x = nullptr;
  bool turned = false;     ///< stored rows run along k (A^T, or B as it is)
  std::int64_t size = 2;   ///< bytes of an element
  std::int64_t c0 = 16;    ///< elements of 32 bytes
  std::int64_t side = 16;  ///< edge of the square blocks that are turned

  bool in_l1() const { return x->at.is_gm == 0 && x->at.local.memory == ATC_L1; }
  std::int64_t slabs(std::int64_t cols) const {
    const std::int64_t n = ceil_div(cols, c0);
    return turned ? round_up(n, side / c0 > 1 ? side / c0 : 1) : n;
  }
  /// Bytes in L1 of a stretch of the stored matrix.
  std::int64_t l1_bytes(std::int64_t rows, std::int64_t cols) const {
    return round_up(rows, turned ? side : kEdge) * slabs(cols) * kRow;
  }
};
Operand operand_of(const AtcMatrix& x, bool turned);

/// The bytes from this one on.
AtcLocal part(const AtcLocal& t, std::int64_t bytes);
AtcCopyEnd moved(const AtcCopyEnd& end, std::int64_t bytes);

/// Issues the loads for one call of the user's, named by its site.
class MatrixLoads {
 public:
  MatrixLoads(Block& b, const AtcSite& site) : b_(b), site_(site) {}

  /// `matrices` of rows x cols, `pitch` elements from a row to the next, to columns of blocks.
  void to_nz(const AtcCopyEnd& from, const AtcLocal& to, std::uint8_t type, std::int64_t matrices,
             std::int64_t rows, std::int64_t cols, std::int64_t pitch, std::int64_t c0_stride,
             std::int64_t matrix_elements);
  void blocks(const AtcCopyEnd& from, const AtcLocal& to, std::uint8_t type, std::int64_t count,
              std::int64_t bytes, std::int64_t src_gap, std::int64_t dst_gap);
  /// A stretch of a stored matrix to L1: [cols / C0][rows][C0], and when its blocks will be turned
  /// [rows / side][cols / C0][side][C0].
  void load_l1(const Operand& o, const AtcLocal& to, std::int64_t row, std::int64_t rows, std::int64_t col,
               std::int64_t cols);
  /// Fractals or square blocks of L1, as LoadData2DParams counts them.
  void load(const AtcLocal& to, const AtcLocal& from, const Operand& o, std::int64_t start,
            std::int64_t repeat, std::int64_t stride, std::int64_t gap, std::int64_t fractal_gap);
  /// L0A: [m / 16][k / C0][16][C0]. `rows16`: rows of a column of blocks in L1.
  void load_a(const Operand& o, const AtcLocal& to, const AtcLocal& from, std::int64_t m, std::int64_t k,
              std::int64_t rows16);
  /// L0B: [k / C0][n / 16][16][C0].
  void load_b(const Operand& o, const AtcLocal& to, const AtcLocal& from, std::int64_t k, std::int64_t n,
              std::int64_t rows16);

 protected:
  Block& b_;
  const AtcSite& site_;

 private:
  void overwrite();
};

}  // namespace atc::ascendc
