#include "custom/elf_file.h"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

namespace atc::custom {
namespace {

Status bad(const std::string& why) { return Status::error("E13029", why); }

/// offset + count * size, or "beyond every file".
std::uint64_t end_of(std::uint64_t offset, std::uint64_t count, std::uint64_t size) {
  std::uint64_t bytes = 0, end = 0;
  if (__builtin_mul_overflow(count, size, &bytes) || __builtin_add_overflow(offset, bytes, &end))
    return UINT64_MAX;
  return end;
}

}  // namespace

Status check_elf_file(std::span<const std::byte> bytes) {
  const auto cut_off = [&](std::uint64_t needed) {
    return bad("the file is cut off: its headers tell of " + std::to_string(needed) + " bytes, it has " +
               std::to_string(bytes.size()))
        .solution("Build or copy the library anew.");
  };
  ElfW(Ehdr) header;
  if (bytes.size() < SELFMAG || std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0)
    return bad("it is no shared object (no ELF file)");
  if (bytes.size() < sizeof header) return cut_off(sizeof header);
  std::memcpy(&header, bytes.data(), sizeof header);
  // Of another machine: the loader says which.
  if (header.e_phentsize != sizeof(ElfW(Phdr)) || header.e_phnum == PN_XNUM) return {};
  std::uint64_t needed = end_of(header.e_phoff, header.e_phnum, sizeof(ElfW(Phdr)));
  if (header.e_shoff != 0)
    needed = std::max(needed, end_of(header.e_shoff, header.e_shnum, header.e_shentsize));
  if (needed > bytes.size()) return cut_off(needed);
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) segment;
    std::memcpy(&segment, bytes.data() + header.e_phoff + i * sizeof segment, sizeof segment);
    if (segment.p_type == PT_LOAD) needed = std::max(needed, end_of(segment.p_offset, 1, segment.p_filesz));
  }
  return needed > bytes.size() ? cut_off(needed) : Status();
}

}  // namespace atc::custom
