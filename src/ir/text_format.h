#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "atc/base/tensor.h"
#include "atc/ir/type.h"

/// Pieces of the `.air` form that the printer and the parser share.
namespace atc::ir::text {

inline constexpr std::string_view kMagic = "air";
inline constexpr int kVersion = 1;
/// Splat literals of one text may stand for this many bytes together; beyond it constants are listed
/// in full, so that a small text can never ask for much memory.
inline constexpr std::size_t kMaxSplatBytes = std::size_t{64} << 20;
/// Graphs in graphs.
inline constexpr int kMaxDepth = 64;

/// [A-Za-z_][A-Za-z0-9_.]* apart from "_", or "?" and more of such: names that need no quotes.
bool is_identifier(std::string_view text);
/// In double quotes; `"`, `\`, and control bytes escaped, all other bytes as they are.
std::string quoted(std::string_view text);
/// As it is when an identifier, else quoted.
std::string word(std::string_view text);
/// Shortest decimal text that reads back as the same bits; "nan(0x...)" for all but the default nan.
std::string number(float v);
std::string number(double v);

std::string type(const TensorType& t);
/// Memory that a splat literal of `count` elements stands for.
std::size_t splat_bytes(DType dtype, std::size_t count, std::size_t string_size);

/// True for types whose elements are written as raw bits (8-bit and 4-bit floats).
bool is_raw(DType dtype);

}  // namespace atc::ir::text
