#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace atc::custom {

/// "add.cpp:31" of an instruction of a shared object, by the program addr2line; empty when that is not
/// installed or the object was built without line numbers (-g).
std::string source_line(std::span<const std::byte> object, std::uint64_t offset);

}  // namespace atc::custom
