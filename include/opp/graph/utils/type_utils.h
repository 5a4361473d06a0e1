#pragma once

#include <cstdint>
#include <string>

#include "atc_opp/ge_types.h"

namespace ge {

class TypeUtils {
 public:
  /// Bytes of an element; false, and `length` is left alone, for types without a whole number of them.
  static bool GetDataTypeLength(DataType type, std::uint32_t& length) {
    const int bytes = GetSizeByDataType(type);
    if (bytes <= 0) return false;
    length = static_cast<std::uint32_t>(bytes);
    return true;
  }
  /// "DT_FLOAT16", for messages.
  static std::string DataTypeToSerialString(DataType type) {
    static constexpr struct {
      DataType type;
      const char* name;
    } kNames[] = {{DT_FLOAT, "DT_FLOAT"},   {DT_FLOAT16, "DT_FLOAT16"}, {DT_BF16, "DT_BF16"},
                  {DT_DOUBLE, "DT_DOUBLE"}, {DT_INT4, "DT_INT4"},       {DT_INT8, "DT_INT8"},
                  {DT_INT16, "DT_INT16"},   {DT_INT32, "DT_INT32"},     {DT_INT64, "DT_INT64"},
                  {DT_UINT8, "DT_UINT8"},   {DT_UINT16, "DT_UINT16"},   {DT_UINT32, "DT_UINT32"},
                  {DT_UINT64, "DT_UINT64"}, {DT_BOOL, "DT_BOOL"}};
    for (const auto& known : kNames)
      if (known.type == type) return known.name;
    return "DT_UNDEFINED";
  }
};

}  // namespace ge
