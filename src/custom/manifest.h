#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "atc/base/dtype.h"
#include "atc/base/tensor.h"

namespace atc::custom {

/// AttrValue::kind: numbers of ATC_ATTR_*.
enum class AttrKind : std::uint32_t { Int, Float, Bool, String, Ints, Floats };
inline constexpr std::uint32_t kAttrKinds = 6;

struct AttrValue {
  std::string name;
  AttrKind kind = AttrKind::Int;
  std::int64_t i = 0;  ///< Int, Bool
  float f = 0;
  std::string s;
  std::vector<std::int64_t> ints;
  std::vector<float> floats;
  friend bool operator==(const AttrValue&, const AttrValue&) = default;
};

struct AttrInfo {
  AttrValue value;  ///< name and kind; the default unless `required`
  bool required = false;
};

/// An input or output of an operator. Column c of `dtypes` and `formats` belongs to combination c.
struct ParamInfo {
  std::string name;
  bool optional = false;
  bool wants_data = false;  ///< shape inference and tiling need its elements
  std::vector<DType> dtypes;
  std::vector<std::int32_t> formats;  ///< AscendCL's numbers
};

/// One operator as its library describes it, checked: all lists of dtypes are equally long.
struct OpInfo {
  std::string type;
  std::string domain;  ///< "": any
  std::vector<ParamInfo> inputs, outputs;
  std::vector<AttrInfo> attrs;
  std::vector<std::string> chips;    ///< lower-case prefixes of chip names; empty: every chip
  std::vector<std::string> origins;  ///< "ai.onnx::11::LeakyRelu"
  bool parses_attributes = false;
  std::uint32_t combinations = 0;
};

struct LibraryInfo {
  std::vector<OpInfo> ops;
};

/// False for what no library can have listed: the process that sent it was damaged.
bool is_consistent(const LibraryInfo& info);

/// A tensor of a node; no shape: absent, or of unknown rank. Dims that are not known are -1.
struct TensorInfo {
  DType dtype = DType::Undefined;
  std::optional<Dims> shape;
  std::string data;  ///< elements of a constant
};

/// A node as an operator's functions see it: inputs in the operator's order, absent ones included.
struct Call {
  std::uint32_t op = 0;  ///< index into LibraryInfo::ops
  std::vector<TensorInfo> inputs, outputs;
  std::vector<AttrValue> attrs;
};

/// What tiling answers: how a node is run.
struct Tiling {
  std::uint32_t block_dim = 0;
  std::uint32_t kernel_type = 0;    ///< ATC_KERNEL_*
  std::uint32_t schedule_mode = 0;  ///< 1: all blocks run at once
  std::uint64_t tiling_key = 0;
  std::uint64_t workspace_bytes = 0;
  std::string data;
};

/// AscendCL's number of an element type; -1 when custom operators have none for it.
std::int32_t acl_dtype(DType dtype);
/// nullopt for a number that custom operators do not take.
std::optional<DType> dtype_from_acl(std::int32_t number);

/// True for "ascend910b" and "Ascend910B3".
bool chip_matches(const OpInfo& op, std::string_view soc_version);

}  // namespace atc::custom
