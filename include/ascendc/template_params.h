#pragma once

// Template arguments of a kernel as constants: what is declared, what is selected, and the tiling key that
// says which selection a launch takes. Both sides use these functions: the host to make a key, the kernel's
// entry to find the instance that belongs to it.
#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

namespace AscendC {
namespace detail {

enum class TplKind : std::uint32_t {
  kDatatype,  ///< a type
  kDtype,     ///< the number of a type
  kFormat,
  kUint,
  kBool,
  kKernelType,     ///< no template argument: on which cores a selection runs
  kDeterministic,  ///< no template argument
};
enum class TplList : std::uint32_t { kRange, kList, kMix };

// Types of the operator's own parameters: beyond every number that a type has.
inline constexpr std::uint64_t kTplInput = 1u << 20, kTplOutput = 1u << 21;

/// A macro's words. `raw`: values; of kUint a TplList, then values, or the number of ranges, their ends (both
/// included), and for kMix single values.
template <std::size_t N>
struct TplWords {
  const char* name;
  TplKind kind;
  std::uint32_t bits;
  std::array<std::uint64_t, N> raw;
};
template <class... Values>
constexpr TplWords<sizeof...(Values)> tpl_words(const char* name, TplKind kind, std::uint32_t bits,
                                                Values... values) {
  return {name, kind, bits, {static_cast<std::uint64_t>(values)...}};
}

/// Words of one declaration or selection; a braced list of them may end in a comma.
template <class... Words>
struct TplArgs {
  constexpr explicit TplArgs(Words... w) : words(w...) {}
  std::tuple<Words...> words;
};
/// All selections of a kernel.
template <class... Args>
struct TplSelections {
  constexpr explicit TplSelections(Args... a) : args(a...) {}
  std::tuple<Args...> args;
};

/// One parameter's values, however they were written.
struct TplParam {
  const char* name = nullptr;
  TplKind kind = TplKind::kUint;
  std::uint32_t bits = 0;
  const std::uint64_t* raw = nullptr;
  std::size_t words = 0;

  constexpr std::uint64_t ranges() const {
    return raw[0] == static_cast<std::uint64_t>(TplList::kList) ? 0 : raw[1];
  }
  /// Whether the words are a list of values.
  constexpr bool valid() const {
    if (kind != TplKind::kUint) return words > 0;
    if (words < 2 || raw[0] > static_cast<std::uint64_t>(TplList::kMix)) return false;
    if (raw[0] == static_cast<std::uint64_t>(TplList::kList)) return true;
    if (ranges() > (words - 2) / 2 || ranges() == 0) return false;
    for (std::size_t r = 0; r < ranges(); ++r)
      if (raw[2 + 2 * r] > raw[3 + 2 * r]) return false;
    return raw[0] == static_cast<std::uint64_t>(TplList::kMix) || words == 2 + 2 * ranges();
  }
  constexpr std::size_t count() const {
    if (kind != TplKind::kUint) return words;
    if (raw[0] == static_cast<std::uint64_t>(TplList::kList)) return words - 1;
    std::size_t n = words - 2 - 2 * ranges();
    for (std::size_t r = 0; r < ranges(); ++r) n += raw[3 + 2 * r] - raw[2 + 2 * r] + 1;
    return n;
  }
  constexpr std::uint64_t at(std::size_t i) const {
    if (kind != TplKind::kUint) return raw[i];
    if (raw[0] == static_cast<std::uint64_t>(TplList::kList)) return raw[1 + i];
    for (std::size_t r = 0; r < ranges(); ++r) {
      const std::size_t n = raw[3 + 2 * r] - raw[2 + 2 * r] + 1;
      if (i < n) return raw[2 + 2 * r] + i;
      i -= n;
    }
    return raw[2 + 2 * ranges() + i];
  }
  /// The place of a value, or count(). A type that is that of an input or an output may be any.
  constexpr std::size_t find(std::uint64_t value) const {
    for (std::size_t i = 0; i < count(); ++i)
      if (at(i) == value || (kind == TplKind::kDatatype && at(i) >= kTplInput)) return i;
    return count();
  }
  constexpr bool is_argument() const { return kind < TplKind::kKernelType; }
};

constexpr bool tpl_same(const char* a, const char* b) {
  for (; *a != '\0' && *a == *b; ++a) ++b;
  return *a == *b;
}

/// A declaration, or one selection.
struct TplSet {
  std::array<TplParam, 64> params{};
  std::size_t count = 0;

  constexpr const TplParam* named(const char* name) const {
    for (std::size_t i = 0; i < count; ++i)
      if (params[i].is_argument() && tpl_same(params[i].name, name)) return &params[i];
    return nullptr;
  }
  /// The number after ASCENDC_TPL_KERNEL_TYPE_SEL; -1 without it.
  constexpr int kernel_type() const {
    for (std::size_t i = 0; i < count; ++i)
      if (params[i].kind == TplKind::kKernelType) return static_cast<int>(params[i].raw[0]);
    return -1;
  }
  constexpr bool valid() const {
    for (std::size_t i = 0; i < count; ++i)
      if (!params[i].valid()) return false;
    return true;
  }
  /// Bits of a key.
  constexpr std::uint32_t bits() const {
    std::uint32_t n = 0;
    for (std::size_t i = 0; i < count; ++i) n += params[i].bits;
    return n;
  }
};

template <class... Words>
constexpr TplSet tpl_list(const TplArgs<Words...>& args) {
  static_assert(sizeof...(Words) <= 64, "at most 64 template arguments fit a tiling key");
  return std::apply(
      [](const auto&... w) {
        TplSet out;
        ((out.params[out.count++] = TplParam{w.name, w.kind, w.bits, w.raw.data(), w.raw.size()}), ...);
        return out;
      },
      args.words);
}
template <class... Args>
constexpr std::array<TplSet, sizeof...(Args)> tpl_lists(const TplSelections<Args...>& selections) {
  return std::apply([](const auto&... a) { return std::array<TplSet, sizeof...(Args)>{tpl_list(a)...}; },
                    selections.args);
}

/// What a value is in a key: its place among the declared ones (ASCENDC_TPL_UINT), or itself.
constexpr std::uint64_t tpl_code(const TplParam& declared, std::uint64_t value) {
  return declared.kind == TplKind::kUint ? declared.find(value) : value;
}
constexpr bool tpl_fits(const TplParam& declared, std::uint64_t code) {
  return declared.bits >= 64 || code >> declared.bits == 0;
}

}  // namespace detail
}  // namespace AscendC
