#pragma once

// From the launcher's call to the kernel's own parameters.
#include <cstddef>
#include <type_traits>
#include <utility>

#include "ascendc/block.h"

namespace AscendC {
namespace detail {

/// An argument slot as a parameter: an address, or the bits of a scalar.
template <class T>
T argument(void* const& slot) {
  if constexpr (std::is_pointer_v<T>) {
    return static_cast<T>(slot);
  } else {
    static_assert(sizeof(T) <= sizeof(void*) && std::is_trivially_copyable_v<T>,
                  "a kernel's parameter is an address or a scalar of at most 8 bytes");
    T value;
    __builtin_memcpy(&value, &slot, sizeof value);
    return value;
  }
}
template <class T>
void* slot_of(T value) {
  void* slot = nullptr;
  if constexpr (std::is_pointer_v<T>) {
    slot = const_cast<void*>(static_cast<const volatile void*>(value));
  } else if constexpr (!std::is_null_pointer_v<T>) {
    static_assert(sizeof(T) <= sizeof slot,
                  "a kernel's argument is an address or a scalar of at most 8 bytes");
    __builtin_memcpy(&slot, &value, sizeof value);
  }
  return slot;
}

template <class... Parameters, std::size_t... I>
void invoke(void (*kernel)(Parameters...), void* const* args, std::index_sequence<I...>) {
  kernel(argument<Parameters>(args[I])...);
}
template <class... Parameters>
void invoke(void (*kernel)(Parameters...), void* const* args) {
  invoke(kernel, args, std::index_sequence_for<Parameters...>());
}

/// The AtcKernel of a kernel function.
template <auto kernel>
void entry(AtcBlock* block, const AtcCoreApi* api, void* const* args) {
  enter(block, api);
  invoke(kernel, args);
  leave();
}

/// Arguments converted to the kernel's parameters, one slot each.
template <class... Parameters, class... Arguments>
void pack(void (*)(Parameters...), void** slots, Arguments... arguments) {
  static_assert(sizeof...(Parameters) == sizeof...(Arguments),
                "the launch gives another number of arguments than the kernel takes");
  std::size_t n = 0;
  ((slots[n++] = slot_of<Parameters>((Parameters)arguments)), ...);
}

}  // namespace detail
}  // namespace AscendC
