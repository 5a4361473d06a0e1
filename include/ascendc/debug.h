#pragma once

// printf, assertions, tensor dumps and trace marks of a kernel.
#include <cstdio>

#include "ascendc/tensors.h"

namespace AscendC {
namespace detail {

inline double printable(half v) { return static_cast<double>(static_cast<float>(v)); }
inline double printable(bfloat16_t v) { return static_cast<double>(static_cast<float>(v)); }
template <class T>
T printable(T v) {
  return v;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-security"
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
template <class... Arguments>
void print(const Site& site, const char* format, Arguments... arguments) {
  char text[1024];
  std::snprintf(text, sizeof text, format, printable(arguments)...);
  // With `using namespace AscendC` the host's own printf is this one.
  if (block() == nullptr)
    std::fputs(text, stdout);
  else
    call(&AtcCoreApi::print, &site, static_cast<const char*>(text));
}
template <class... Arguments>
[[noreturn]] void fail(const Site& site, const char* condition, const char* format, Arguments... arguments) {
  char text[1024];
  const int n = std::snprintf(text, sizeof text, "%s%s", condition, *format != '\0' ? ": " : "");
  if (n >= 0 && n < static_cast<int>(sizeof text))
    std::snprintf(text + n, sizeof text - static_cast<std::size_t>(n), format, printable(arguments)...);
  call(&AtcCoreApi::fail, &site, static_cast<const char*>(text));
  __builtin_trap();
}
#pragma GCC diagnostic pop

template <class T>
void dump(const T& tensor, std::uint32_t description, std::uint32_t elements, const Site& site) {
  char line[256];
  std::snprintf(line, sizeof line, "DumpTensor %u, %u elements:\n", description, elements);
  call(&AtcCoreApi::print, &site, static_cast<const char*>(line));
  for (std::uint32_t i = 0; i < elements; i += 8) {
    int n = 0;
    for (std::uint32_t j = i; j < elements && j < i + 8; ++j)
      n += std::snprintf(line + n, sizeof line - static_cast<std::size_t>(n), "%s%.7g", j == i ? "" : " ",
                         static_cast<double>(static_cast<float>(tensor.GetValue(j, site))));
    std::snprintf(line + n, sizeof line - static_cast<std::size_t>(n), "\n");
    call(&AtcCoreApi::print, &site, static_cast<const char*>(line));
  }
}

}  // namespace detail

template <class... Arguments>
void printf(const char* format, Arguments... arguments) {
  detail::print(detail::Site(nullptr, 0), format, arguments...);
}
template <class... Arguments>
void PRINTF(const char* format, Arguments... arguments) {
  detail::print(detail::Site(nullptr, 0), format, arguments...);
}
template <class T>
void DumpTensor(const LocalTensor<T>& tensor, std::uint32_t description, std::uint32_t elements,
                detail::Site site = detail::Site()) {
  detail::dump(tensor, description, elements, site);
}
template <class T>
void DumpTensor(const GlobalTensor<T>& tensor, std::uint32_t description, std::uint32_t elements,
                detail::Site site = detail::Site()) {
  detail::dump(tensor, description, elements, site);
}
inline void TraceStart(std::int32_t id, detail::Site site = detail::Site()) {
  detail::call(&AtcCoreApi::mark, &site, std::int32_t{ATC_MARK_BEGIN}, id);
}
inline void TraceStop(std::int32_t id, detail::Site site = detail::Site()) {
  detail::call(&AtcCoreApi::mark, &site, std::int32_t{ATC_MARK_END}, id);
}
[[noreturn]] inline void Trap(detail::Site site = detail::Site()) { detail::fail(site, "Trap", ""); }

}  // namespace AscendC

#define TRACE_START(id) ::AscendC::TraceStart(static_cast<std::int32_t>(id))
#define TRACE_STOP(id) ::AscendC::TraceStop(static_cast<std::int32_t>(id))
#define ASCENDC_ASSERT(condition, behaviour)                              \
  do {                                                                    \
    if (!(condition)) {                                                   \
      behaviour;                                                          \
      ::AscendC::detail::fail(::AscendC::detail::Site(), #condition, ""); \
    }                                                                     \
  } while (0)
#define ascendc_assert(condition, ...)                                                                \
  do {                                                                                                \
    if (!(condition)) ::AscendC::detail::fail(::AscendC::detail::Site(), #condition, "" __VA_ARGS__); \
  } while (0)
#ifndef ASSERT
#define ASSERT(condition)                                                                 \
  do {                                                                                    \
    if (!(condition)) ::AscendC::detail::fail(::AscendC::detail::Site(), #condition, ""); \
  } while (0)
#endif
