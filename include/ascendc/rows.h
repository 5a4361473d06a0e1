#pragma once

// Calls of the table's functions over the rows of a matrix: what softmax.h, normalization.h and shapes.h
// share.
#include <cstdint>

#include "ascendc/tiling_structs.h"
#include "ascendc/vector.h"

namespace AscendC {

/// The part of a softmax's matrix that counts: rows of srcK elements, of which oriK (oriM rows) are real; 0:
/// all.
struct SoftMaxShapeInfo {
  std::uint32_t srcM = 0, srcK = 0, oriSrcM = 0, oriSrcK = 0;
};
/// How sums and maxima are stored: a data block a row, or (WITHOUT_BRC) an element a row.
enum class SoftmaxMode : std::uint8_t { SOFTMAX_NORMAL = 0, SOFTMAX_OUTPUT_WITHOUT_BRC = 1 };
struct SoftmaxConfig {
  bool isCheckTiling = true;
  std::uint32_t oriSrcM = 0, oriSrcK = 0;
  SoftmaxMode mode = SoftmaxMode::SOFTMAX_NORMAL;
};
inline constexpr SoftmaxConfig SOFTMAX_DEFAULT_CFG{};

namespace detail {

struct RowShape {
  std::int64_t rows, cols, pitch;
};
/// The shape that a softmax works on; without one in the call that of the tiling, else that of the tensor.
template <class T>
RowShape shape_of(const LocalTensor<T>& src, const SoftMaxTiling& tiling, const SoftMaxShapeInfo& info) {
  std::int64_t rows = info.srcM, pitch = info.srcK;
  if (rows == 0 || pitch == 0) {
    const ShapeInfo s = src.GetShapeInfo();
    if (s.shapeDim != 0) {
      pitch = s.shape[s.shapeDim - 1];
      rows = 1;
      for (int i = 0; i + 1 < s.shapeDim; ++i) rows *= s.shape[i];
    } else {
      rows = tiling.srcM;
      pitch = tiling.srcK;
    }
  }
  return {info.oriSrcM != 0 ? static_cast<std::int64_t>(info.oriSrcM) : rows,
          info.oriSrcK != 0 ? static_cast<std::int64_t>(info.oriSrcK) : pitch, pitch};
}

inline AtcRows rows_call(AtcRowOp op, const RowShape& shape) {
  AtcRows r{};
  r.op = op;
  for (AtcOperand& o : r.out) o = no_operand();
  for (AtcOperand& o : r.in) o = no_operand();
  r.rows = shape.rows;
  r.cols = shape.cols;
  r.pitch = shape.pitch;
  return r;
}
inline void run(const AtcRows& r, const Site& site) { call(&AtcCoreApi::rows, &site, &r); }

}  // namespace detail
}  // namespace AscendC
