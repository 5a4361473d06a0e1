#pragma once

// Where tensors are and how matrices are stored: names that host code has too.
#include <cstdint>

enum class CubeFormat : std::uint8_t {
  ND = 0,
  NZ,
  ZN,
  ZZ,
  NN,
  ND_ALIGN,
  SCALAR,
  VECTOR,
  COLUMN_MAJOR,
  ROW_MAJOR
};

namespace AscendC {

using ::CubeFormat;

enum class TPosition : std::uint8_t {
  GM,
  A1,
  A2,
  B1,
  B2,
  C1,
  C2,
  CO1,
  CO2,
  VECIN,
  VECOUT,
  VECCALC,
  LCM = VECCALC,
  SPM,
  SHM = SPM,
  TSCM,
  C2PIPE2GM,
  C2PIPE2LOCAL,
  MAX,
};
using QuePosition = TPosition;

}  // namespace AscendC
