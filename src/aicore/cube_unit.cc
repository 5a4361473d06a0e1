#include <cstring>

#include "aicore/core.h"
#include "aicore/cube_product.h"
#include "aicore/cube_tile.h"
#include "atc/base/check.h"
#include "atc/base/math.h"

namespace atc::aicore {
namespace {

bool host_has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

}  // namespace

const CubeTable& cube_table() {
  static const CubeTable& table = host_has_avx2() ? cube_table_avx2() : cube_table_generic();
  return table;
}

void Core::l1_product(Buffer& l0c, CubeBuffers& l0, const CubeTile& a, const RowMap& rows, const CubeTile& b,
                      DType dtype, int panels, int k_slice, bool accumulate, AccLayout layout) {
  const std::int64_t m16 = round_up(rows.rows(), 16);
  ATC_CHECK(m16 * panels * 16 * 4 <= l0c.bytes, "L0C tile of " + std::to_string(m16 * panels * 64) +
                                                    " bytes beyond its buffer of " +
                                                    std::to_string(l0c.bytes));
  if (timing_ || values_ == Values::Literal)
    expand_product(l0c, l0, a, rows, b, dtype, panels, k_slice, accumulate);
  if (values_ != Values::Fast) return;
  aicore::fast_product(l0c.own, a, rows, b, dtype, panels, accumulate, layout);
  l0c.data = l0c.own;
}

void Core::fixpipe(Buffer& ub, Buffer& l0c, int m, int row0, int rows, int panel, int panels,
                   AccLayout layout) {
  const PanelPlace place = panel_place(layout, m, panel, panels);
  const std::int64_t width = place.pitch;
  ATC_CHECK(width == 16 || layout == AccLayout::Rows || panel % 2 == 0, "Fixpipe of half a pair");
  const std::int64_t bytes = rows * width * 4;
  ATC_CHECK(bytes <= ub.bytes, "Fixpipe of " + std::to_string(bytes) + " bytes beyond its UB buffer of " +
                                   std::to_string(ub.bytes));
  if (values_ == Values::Fast) {
    ub.data = l0c.own + (place.start + row0 * width) * 4;
    ub.pending = nullptr;
  } else if (values_ == Values::Literal) {
    ub.data = ub.own;
    const float* src = reinterpret_cast<const float*>(l0c.own);
    float* dst = reinterpret_cast<float*>(ub.own);
    const std::int64_t m16 = round_up(m, 16);
    const int first = layout == AccLayout::Rows ? 0 : panel, last = first + static_cast<int>(width / 16);
    for (int p = first; p < last; ++p)
      for (int r = 0; r < rows; ++r)
        std::memcpy(dst + r * width + std::int64_t{p - first} * 16, src + (p * m16 + row0 + r) * 16, 64);
  }
  if (timing_) {
    issue(chip_.fixpipe ? Pipe::FIX : Pipe::V, 8 + ceil_div(bytes, chip_.l0c_out), "Fixpipe", bytes, {&l0c},
          {&ub});
    // Split cores: the vector core fetches the tile through L2.
    if (chip_.split)
      issue(Pipe::MTE2, 8 + ceil_div(bytes, std::int64_t{2} * chip_.l2_read), "DataCopy", bytes, {}, {&ub});
  }
}

}  // namespace atc::aicore
