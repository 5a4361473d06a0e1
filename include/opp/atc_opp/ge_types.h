#pragma once

// Types of the host side of Ascend C projects: namespace ge.
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace ge {

enum DataType : int {
  DT_FLOAT = 0,
  DT_FLOAT16 = 1,
  DT_INT8 = 2,
  DT_INT32 = 3,
  DT_UINT8 = 4,
  DT_INT16 = 6,
  DT_UINT16 = 7,
  DT_UINT32 = 8,
  DT_INT64 = 9,
  DT_UINT64 = 10,
  DT_DOUBLE = 11,
  DT_BOOL = 12,
  DT_STRING = 13,
  DT_COMPLEX64 = 16,
  DT_COMPLEX128 = 17,
  DT_BF16 = 27,
  DT_UNDEFINED = 28,
  DT_INT4 = 29,
  DT_UINT1 = 30,
  DT_INT2 = 31,
  DT_UINT2 = 32,
};

enum Format : int {
  FORMAT_NCHW = 0,
  FORMAT_NHWC = 1,
  FORMAT_ND = 2,
  FORMAT_NC1HWC0 = 3,
  FORMAT_FRACTAL_Z = 4,
  FORMAT_HWCN = 16,
  FORMAT_NDHWC = 27,
  FORMAT_FRACTAL_NZ = 29,
  FORMAT_NCDHW = 30,
  FORMAT_NCL = 47,
};

using graphStatus = std::uint32_t;
inline constexpr graphStatus GRAPH_SUCCESS = 0;
inline constexpr graphStatus GRAPH_FAILED = 0xFFFFFFFF;
inline constexpr graphStatus GRAPH_PARAM_INVALID = 50331649;
inline constexpr graphStatus SUCCESS = 0;
inline constexpr graphStatus FAILED = 0xFFFFFFFF;

/// Bytes of an element; 0 for types without a whole number of them.
inline int GetSizeByDataType(DataType type) {
  switch (type) {
    case DT_INT8:
    case DT_UINT8:
    case DT_BOOL:
      return 1;
    case DT_FLOAT16:
    case DT_BF16:
    case DT_INT16:
    case DT_UINT16:
      return 2;
    case DT_FLOAT:
    case DT_INT32:
    case DT_UINT32:
      return 4;
    case DT_INT64:
    case DT_UINT64:
    case DT_DOUBLE:
    case DT_COMPLEX64:
      return 8;
    case DT_COMPLEX128:
      return 16;
    default:
      return 0;
  }
}

class AscendString {
 public:
  AscendString() = default;
  AscendString(const char* text) : text_(text == nullptr ? "" : text) {}  // NOLINT: as projects use it
  const char* GetString() const { return text_.c_str(); }
  std::size_t GetLength() const { return text_.size(); }
  friend bool operator==(const AscendString& a, const AscendString& b) { return a.text_ == b.text_; }
  friend bool operator<(const AscendString& a, const AscendString& b) { return a.text_ < b.text_; }

 private:
  std::string text_;
};

}  // namespace ge
