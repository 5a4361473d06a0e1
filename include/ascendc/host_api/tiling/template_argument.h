#pragma once

// Template arguments of kernels: a header in op_kernel/ declares them and selects their combinations; the
// tiling function names a combination by its values, the kernel is a function template with these parameters.
//
//   ASCENDC_TPL_ARGS_DECL(AddCustom, ASCENDC_TPL_DATATYPE_DECL(T, C_DT_FLOAT16, C_DT_FLOAT),
//                         ASCENDC_TPL_UINT_DECL(TILES, ASCENDC_TPL_8_BW, ASCENDC_TPL_UI_LIST, 1, 8), );
//   ASCENDC_TPL_SEL(ASCENDC_TPL_ARGS_SEL(ASCENDC_TPL_DATATYPE_SEL(T, C_DT_FLOAT),
//                                        ASCENDC_TPL_UINT_SEL(TILES, ASCENDC_TPL_UI_LIST, 8)), );
//
// The key has the first argument in its lowest bits.
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <vector>

#include "ascendc/c_types.h"
#include "ascendc/template_params.h"

#define ASCENDC_TPL_1_BW 1
#define ASCENDC_TPL_2_BW 2
#define ASCENDC_TPL_4_BW 4
#define ASCENDC_TPL_8_BW 8

#define ASCENDC_TPL_UI_RANGE 0
#define ASCENDC_TPL_UI_LIST 1
#define ASCENDC_TPL_UI_MIX 2

// The numbers of AtcKernelType.
#define ASCENDC_TPL_AIV_ONLY 0
#define ASCENDC_TPL_AIC_ONLY 1
#define ASCENDC_TPL_MIX_AIV_1_0 2
#define ASCENDC_TPL_MIX_AIC_1_0 3
#define ASCENDC_TPL_MIX_AIC_1_1 4
#define ASCENDC_TPL_MIX_AIC_1_2 5
#define ASCENDC_TPL_AICORE 6
#define ASCENDC_TPL_VECTORCORE 7
#define ASCENDC_TPL_MIX_AICORE 8
#define ASCENDC_TPL_MIX_VECTOR_CORE 9

#define ASCENDC_TPL_INPUT(index) (::AscendC::detail::kTplInput + (index))
#define ASCENDC_TPL_OUTPUT(index) (::AscendC::detail::kTplOutput + (index))

#define ATC_TPL_WORDS(name, kind, bits, ...) \
  ::AscendC::detail::tpl_words(#name, ::AscendC::detail::TplKind::kind, bits, __VA_ARGS__)
#define ASCENDC_TPL_DATATYPE_DECL(name, ...) ATC_TPL_WORDS(name, kDatatype, 8, __VA_ARGS__)
#define ASCENDC_TPL_DTYPE_DECL(name, ...) ATC_TPL_WORDS(name, kDtype, 8, __VA_ARGS__)
#define ASCENDC_TPL_FORMAT_DECL(name, ...) ATC_TPL_WORDS(name, kFormat, 8, __VA_ARGS__)
#define ASCENDC_TPL_UINT_DECL(name, bits, ...) ATC_TPL_WORDS(name, kUint, bits, __VA_ARGS__)
#define ASCENDC_TPL_BOOL_DECL(name, ...) ATC_TPL_WORDS(name, kBool, 1, __VA_ARGS__)
#define ASCENDC_TPL_KERNEL_TYPE_DECL(name, ...) ATC_TPL_WORDS(name, kKernelType, 0, __VA_ARGS__)
#define ASCENDC_TPL_DETERMINISTIC_DECL(name, ...) ATC_TPL_WORDS(name, kDeterministic, 0, __VA_ARGS__)

#define ASCENDC_TPL_DATATYPE_SEL(name, ...) ATC_TPL_WORDS(name, kDatatype, 8, __VA_ARGS__)
#define ASCENDC_TPL_DTYPE_SEL(name, ...) ATC_TPL_WORDS(name, kDtype, 8, __VA_ARGS__)
#define ASCENDC_TPL_FORMAT_SEL(name, ...) ATC_TPL_WORDS(name, kFormat, 8, __VA_ARGS__)
#define ASCENDC_TPL_UINT_SEL(name, ...) ATC_TPL_WORDS(name, kUint, 0, __VA_ARGS__)
#define ASCENDC_TPL_BOOL_SEL(name, ...) ATC_TPL_WORDS(name, kBool, 1, __VA_ARGS__)
#define ASCENDC_TPL_KERNEL_TYPE_SEL(type) ATC_TPL_WORDS(kernel_type, kKernelType, 0, type)
#define ASCENDC_TPL_DETERMINISTIC_SEL(...) ATC_TPL_WORDS(deterministic, kDeterministic, 0, __VA_ARGS__)
// Which structure the tiling function fills: it asks for it by GetTilingData<T>().
#define ASCENDC_TPL_TILING_STRUCT_SEL(...) \
  ATC_TPL_WORDS(tiling_struct, kDeterministic, 0, sizeof(__VA_ARGS__))

#define ASCENDC_TPL_ARGS_DECL(op, ...) \
  [[maybe_unused]] static constexpr auto g_tilingDeclareParams = ::AscendC::detail::TplArgs { __VA_ARGS__ }
#define ASCENDC_TPL_ARGS_SEL(...) \
  ::AscendC::detail::TplArgs { __VA_ARGS__ }
#define ASCENDC_TPL_SEL(...)                                                                       \
  [[maybe_unused]] static constexpr auto g_tilingSelectParams = ::AscendC::detail::TplSelections { \
    __VA_ARGS__                                                                                    \
  }

namespace AscendC {
namespace detail {

/// The key of a combination. std::invalid_argument, which ends the tiling function with this text, for values
/// that are not declared, that their bits cannot hold, or that no selection has together.
inline std::uint64_t tpl_key(const TplSet& declared, const TplSet* selections, std::size_t count,
                             const std::vector<std::uint64_t>& values) {
  std::vector<const TplParam*> params;
  for (std::size_t i = 0; i < declared.count; ++i)
    if (declared.params[i].is_argument()) params.push_back(&declared.params[i]);
  const auto refuse = [](const std::string& why) {
    throw std::invalid_argument("template arguments: " + why);
  };
  if (values.size() != params.size())
    refuse(std::to_string(values.size()) + " values are given, " + std::to_string(params.size()) +
           " are declared");
  if (declared.bits() > 64)
    refuse("those declared take " + std::to_string(declared.bits()) + " bits, a tiling key has 64");
  std::string text;
  std::uint64_t key = 0;
  std::uint32_t shift = 0;
  for (std::size_t i = 0; i < params.size(); ++i) {
    const TplParam& p = *params[i];
    if (!p.valid()) refuse(std::string("the values of ") + p.name + " are no list");
    const std::string value = std::string(p.name) + " = " + std::to_string(values[i]);
    text += (i == 0 ? "" : ", ") + value;
    if (p.find(values[i]) == p.count()) refuse(value + " is not declared");
    const std::uint64_t code = tpl_code(p, values[i]);
    if (!tpl_fits(p, code))
      refuse(value + " needs more than the " + std::to_string(p.bits) + " bits declared");
    key |= code << shift;
    shift += p.bits;
  }
  for (std::size_t s = 0; s < count; ++s) {
    bool all = selections[s].valid();
    for (std::size_t i = 0; all && i < params.size(); ++i) {
      const TplParam* chosen = selections[s].named(params[i]->name);
      all = chosen != nullptr && chosen->find(values[i]) < chosen->count();
    }
    if (all) return key;
  }
  refuse("no ASCENDC_TPL_ARGS_SEL has " + text);
  return 0;
}
template <class Declared, class Selected>
std::uint64_t tpl_key(const Declared& declared, const Selected& selected,
                      const std::vector<std::uint64_t>& values) {
  const auto lists = tpl_lists(selected);
  return tpl_key(tpl_list(declared), lists.data(), lists.size(), values);
}

}  // namespace detail
}  // namespace AscendC

#define GET_TPL_TILING_KEY(...) \
  ::AscendC::detail::tpl_key(g_tilingDeclareParams, g_tilingSelectParams, {__VA_ARGS__})
#define ASCENDC_TPL_SEL_PARAM(context, ...)                     \
  do {                                                          \
    (context)->SetTilingKey(GET_TPL_TILING_KEY({__VA_ARGS__})); \
  } while (0)
