#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "ops/op.h"

namespace atc::ops {

/// A set of dtypes, as ONNX's type constraints name them.
class DTypeSet {
 public:
  constexpr DTypeSet(std::initializer_list<DType> types) {
    for (DType t : types) bits_ |= bit(t);
  }
  constexpr bool has(DType t) const { return (bits_ & bit(t)) != 0; }
  constexpr DTypeSet operator|(DTypeSet other) const {
    DTypeSet out = *this;
    out.bits_ |= other.bits_;
    return out;
  }

 private:
  static constexpr std::uint32_t bit(DType t) { return std::uint32_t{1} << static_cast<unsigned>(t); }
  std::uint32_t bits_ = 0;
};

inline constexpr DTypeSet kFloatTypes = {DType::F16, DType::BF16, DType::F32, DType::F64};
inline constexpr DTypeSet kSignedIntTypes = {DType::I8, DType::I16, DType::I32, DType::I64};
inline constexpr DTypeSet kUnsignedIntTypes = {DType::U8, DType::U16, DType::U32, DType::U64};
inline constexpr DTypeSet kIntTypes = kSignedIntTypes | kUnsignedIntTypes;
inline constexpr DTypeSet kNumericTypes = kFloatTypes | kIntTypes;
inline constexpr DTypeSet kBoolTypes = {DType::Bool};
inline constexpr DTypeSet kIndexTypes = {DType::I32, DType::I64};

/// Refuses an input whose dtype is known and not in `allowed`; `what` names the set ("a float type").
Status require_dtype(const InferContext& ctx, std::size_t i, DTypeSet allowed, std::string_view what);

/// vector_accepts of most elementwise operators: every operand's dtype has a register type that holds it.
bool has_vector_types(const ir::Node& node);

}  // namespace atc::ops
