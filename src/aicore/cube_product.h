#pragma once

#include "aicore/core.h"

namespace atc::aicore {

/// Where Fast mode keeps a panel of an L0C tile: its first element, and elements from one row to the next.
struct PanelPlace {
  std::int64_t start = 0;
  std::int64_t pitch = 16;
};
inline PanelPlace panel_place(AccLayout layout, int m, int panel, int panels) {
  switch (layout) {
    case AccLayout::Panels:
      return {std::int64_t{panel} * m * 16, 16};
    case AccLayout::Pairs: {
      const bool single = panel % 2 == 0 && panel + 1 == panels;
      return {std::int64_t{panel / 2} * m * 32 + std::int64_t{panel % 2} * 16, single ? 16 : 32};
    }
    case AccLayout::Rows:
      return {std::int64_t{panel} * 16, std::int64_t{panels} * 16};
  }
  return {};
}

/// The L1 tile product on the host: what Core::l1_product computes in Fast mode, at `l0c`. Elements of A are
/// f32 (of int8 products i16), those of B of `dtype`.
void fast_product(std::byte* l0c, const Core::CubeTile& a, const RowMap& map, const Core::CubeTile& b,
                  DType dtype, int panels, bool accumulate, AccLayout layout);

/// The same of int8.
void int8_product(std::byte* l0c, const Core::CubeTile& a, const RowMap& map, const Core::CubeTile& b,
                  int panels, bool accumulate, AccLayout layout);

}  // namespace atc::aicore
