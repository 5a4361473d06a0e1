#pragma once

#include <cstddef>
#include <span>

#include "atc/base/status.h"

namespace atc::custom {

/// E13029 unless the bytes begin like a shared object of this kind of machine and hold all that its headers
/// say is there: the dynamic loader maps a file that is cut off, and crashes when it reads it.
Status check_elf_file(std::span<const std::byte> bytes);

}  // namespace atc::custom
