#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "ascendc/pipes.h"

namespace atc::ascendc {

/// What the checks know of one on-chip memory: which bytes have been written, and which instruction touched
/// each data block last.
class Shadow {
 public:
  void resize(std::int64_t bytes);

  /// Which access of another pipe is not ordered before the next instruction of `p` over these bytes.
  struct Conflict {
    bool found = false;
    bool other_wrote = false;
    Pipe other = Pipe::S;
    int other_site = 0;
    std::int64_t offset = 0;
  };
  /// Looks for conflicts and books the access, as instruction pipes.next(p) of `p`.
  Conflict touch(const Pipes& pipes, Pipe p, std::int64_t offset, std::int64_t bytes, bool write, int site);

  bool written(std::int64_t offset, std::int64_t bytes) const;
  /// The first byte in the range that was never written; -1: all were.
  std::int64_t first_unwritten(std::int64_t offset, std::int64_t bytes) const;
  void set_written(std::int64_t offset, std::int64_t bytes, bool value = true);
  std::uint8_t* states(std::int64_t offset) { return written_.data() + offset; }

 private:
  struct Block {
    Pipes::Number write = 0;
    std::array<Pipes::Number, kPipeCount> read{};
    std::array<int, kPipeCount> read_site{};
    int write_site = 0;
    std::uint8_t write_pipe = 0;
  };
  std::vector<Block> blocks_;
  std::vector<std::uint8_t> written_;
};

}  // namespace atc::ascendc
