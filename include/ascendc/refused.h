#pragma once

// Code of newer chips' register-level interfaces is refused by name.
#include <type_traits>

namespace AscendC {
namespace MicroAPI {
namespace detail {
template <class...>
inline constexpr bool never = false;
}
template <class T, class... Options>
struct RegTensor {
  static_assert(detail::never<T>,
                "MicroAPI (Reg) code is not simulated: it addresses the vector registers of newer chips");
};
struct MaskReg {
  template <class T = int>
  MaskReg() {
    static_assert(detail::never<T>,
                  "MicroAPI (Reg) code is not simulated: it addresses the mask registers of newer chips");
  }
};
}  // namespace MicroAPI
namespace Reg = MicroAPI;
}  // namespace AscendC
