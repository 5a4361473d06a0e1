#include "ascendc/shadow.h"

#include <cstring>

namespace atc::ascendc {
namespace {

constexpr std::int64_t kBlock = 32;

}  // namespace

void Shadow::resize(std::int64_t bytes) {
  blocks_.assign(static_cast<std::size_t>((bytes + kBlock - 1) / kBlock), {});
  written_.assign(static_cast<std::size_t>(bytes), 0);
}

Shadow::Conflict Shadow::touch(const Pipes& pipes, Pipe p, std::int64_t offset, std::int64_t bytes,
                               bool write, int site) {
  Conflict conflict;
  if (bytes <= 0) return conflict;
  const Pipes::Number number = pipes.next(p);
  const auto own = static_cast<std::size_t>(p);
  for (std::int64_t b = offset / kBlock; b <= (offset + bytes - 1) / kBlock; ++b) {
    Block& block = blocks_[static_cast<std::size_t>(b)];
    if (!conflict.found && block.write != 0 &&
        !pipes.ordered(p, static_cast<Pipe>(block.write_pipe), block.write))
      conflict = {true, true, static_cast<Pipe>(block.write_pipe), block.write_site, b * kBlock};
    if (write) {
      for (std::size_t q = 0; q < kPipeCount; ++q) {
        // Scalar loads are done before the scalar unit hands out what follows.
        if (block.read[q] == 0 || q == static_cast<std::size_t>(Pipe::S)) continue;
        if (!conflict.found && !pipes.ordered(p, static_cast<Pipe>(q), block.read[q]))
          conflict = {true, false, static_cast<Pipe>(q), block.read_site[q], b * kBlock};
      }
      block.write = number;
      block.write_pipe = static_cast<std::uint8_t>(p);
      block.write_site = site;
      block.read = {};
    } else {
      block.read[own] = number;
      block.read_site[own] = site;
    }
  }
  return conflict;
}

std::int64_t Shadow::first_unwritten(std::int64_t offset, std::int64_t bytes) const {
  if (bytes <= 0) return -1;
  const std::uint8_t* from = written_.data() + offset;
  const void* at = std::memchr(from, 0, static_cast<std::size_t>(bytes));
  return at == nullptr ? -1 : offset + (static_cast<const std::uint8_t*>(at) - from);
}

bool Shadow::written(std::int64_t offset, std::int64_t bytes) const {
  return first_unwritten(offset, bytes) < 0;
}

void Shadow::set_written(std::int64_t offset, std::int64_t bytes, bool value) {
  if (bytes > 0) std::memset(written_.data() + offset, value ? 1 : 0, static_cast<std::size_t>(bytes));
}

}  // namespace atc::ascendc
