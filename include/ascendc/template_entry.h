#pragma once

// The entry of a kernel that is a template: every selected combination is instantiated, the launch's tiling
// key says which one runs.
#include "ascendc/debug.h"
#include "ascendc/entry.h"
#include "ascendc/template_params.h"

namespace AscendC {
namespace detail {

template <std::uint64_t number>
struct TplType {
  static_assert(number == ~std::uint64_t{0}, "ASCENDC_TPL_DATATYPE: kernels have no type of this number");
};
#define ATC_TPL_TYPE(number, Type) \
  template <>                      \
  struct TplType<number> {         \
    using type = Type;             \
  };
ATC_TPL_TYPE(0, float)
ATC_TPL_TYPE(1, half)
ATC_TPL_TYPE(2, std::int8_t)
ATC_TPL_TYPE(3, std::int32_t)
ATC_TPL_TYPE(4, std::uint8_t)
ATC_TPL_TYPE(6, std::int16_t)
ATC_TPL_TYPE(7, std::uint16_t)
ATC_TPL_TYPE(8, std::uint32_t)
ATC_TPL_TYPE(9, std::int64_t)
ATC_TPL_TYPE(10, std::uint64_t)
ATC_TPL_TYPE(11, double)
ATC_TPL_TYPE(12, bool)
ATC_TPL_TYPE(27, bfloat16_t)
ATC_TPL_TYPE(29, int4b_t)
#undef ATC_TPL_TYPE

/// `Keys`: `declared()`, `selected()` of the kernel's header, and `inputs` and `outputs`, the numbers of the
/// types that the operator's parameters have in this compilation.
template <class Keys>
struct TplTable {
  static constexpr TplSet declared = tpl_list(Keys::declared());
  static constexpr auto selections = tpl_lists(Keys::selected());

  static constexpr bool complete() {
    for (const TplSet& s : selections)
      for (std::size_t i = 0; i < declared.count; ++i) {
        const TplParam& d = declared.params[i];
        if (!d.is_argument()) continue;
        const TplParam* chosen = s.named(d.name);
        if (chosen == nullptr || chosen->kind != d.kind) return false;
        for (std::size_t v = 0; v < chosen->count(); ++v)
          if (d.find(chosen->at(v)) == d.count() || !tpl_fits(d, tpl_code(d, resolved(chosen->at(v)))))
            return false;
      }
    return true;
  }
  static constexpr bool valid() {
    for (const TplSet& s : selections)
      if (!s.valid()) return false;
    return declared.valid();
  }
  static constexpr std::uint64_t resolved(std::uint64_t value) {
    if (value >= kTplOutput && value - kTplOutput < Keys::output_count)
      return Keys::outputs[value - kTplOutput];
    if (value >= kTplInput && value - kTplInput < Keys::input_count) return Keys::inputs[value - kTplInput];
    return value;
  }
  static constexpr std::size_t size_of(const TplSet& selection) {
    std::size_t n = 1;
    for (std::size_t i = 0; i < declared.count; ++i)
      if (declared.params[i].is_argument()) n *= selection.named(declared.params[i].name)->count();
    return n;
  }
  static constexpr std::size_t size() {
    std::size_t n = 0;
    for (const TplSet& s : selections) n += size_of(s);
    return n;
  }
};

/// Combination I, counted through the selections.
template <class Keys, std::size_t I>
struct TplChoice {
  using Table = TplTable<Keys>;
  struct Values {
    std::array<std::uint64_t, 64> value{};
    std::uint64_t key = 0;
    int kernel_type = -1;
  };
  static constexpr Values values() {
    Values out;
    std::size_t at = I, s = 0;
    while (at >= Table::size_of(Table::selections[s])) at -= Table::size_of(Table::selections[s++]);
    const TplSet& selection = Table::selections[s];
    std::uint32_t shift = 0;
    std::size_t n = 0;
    for (std::size_t i = 0; i < Table::declared.count; ++i) {
      const TplParam& declared = Table::declared.params[i];
      if (!declared.is_argument()) continue;
      const TplParam& chosen = *selection.named(declared.name);
      const std::uint64_t value = Table::resolved(chosen.at(at % chosen.count()));
      at /= chosen.count();
      out.value[n++] = value;
      out.key |= tpl_code(declared, value) << shift;
      shift += declared.bits;
    }
    out.kernel_type = selection.kernel_type();
    return out;
  }
  static constexpr Values all = values();
  template <std::size_t J>
  using type = typename TplType<all.value[J]>::type;
  template <std::size_t J>
  static constexpr std::uint64_t value = all.value[J];
};

struct TplRow {
  std::uint64_t key;
  int kernel_type;
  void (*run)(void* const* args);
};
template <auto kernel>
void run_instance(void* const* args) {
  invoke(kernel, args);
}
template <class Keys, template <class> class Instance, std::size_t... I>
void run_chosen(void* const* args, std::index_sequence<I...>) {
  static constexpr TplRow rows[] = {{TplChoice<Keys, I>::all.key, TplChoice<Keys, I>::all.kernel_type,
                                     &run_instance<Instance<TplChoice<Keys, I>>::kernel()>}...};
  for (const TplRow& row : rows) {
    if (row.key != tiling_key()) continue;
    if (row.kernel_type >= 0) declare_type(static_cast<KernelMetaType>(row.kernel_type), Site(nullptr, 0));
    row.run(args);
    return;
  }
  fail(Site(nullptr, 0), "the tiling key is that of a selected combination of template arguments",
       "it is %llu, of %zu combinations", static_cast<unsigned long long>(tiling_key()), sizeof...(I));
}

/// The AtcKernel of a kernel that is a template. `Instance<Choice>::kernel()` gives its instance.
template <class Keys, template <class> class Instance>
void template_entry(AtcBlock* block, const AtcCoreApi* api, void* const* args) {
  using Table = TplTable<Keys>;
  static_assert(Table::valid(), "ASCENDC_TPL_UINT: a range or list of values is none");
  static_assert(Table::declared.bits() <= 64, "ASCENDC_TPL_ARGS_DECL: the arguments take more than 64 bits");
  static_assert(Table::complete(),
                "ASCENDC_TPL_ARGS_SEL: an argument is left out, or has a value that is not declared or that "
                "its bits cannot hold");
  static_assert(Table::size() <= 4096, "ASCENDC_TPL_SEL: more than 4096 combinations");
  enter(block, api);
  run_chosen<Keys, Instance>(args, std::make_index_sequence<Table::size()>());
  leave();
}

}  // namespace detail
}  // namespace AscendC
