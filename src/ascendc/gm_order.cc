#include "ascendc/gm_order.h"

#include <algorithm>

namespace atc::ascendc {
namespace {

/// A program that orders its copies keeps a few open; of one that orders none the latest are looked at.
constexpr std::size_t kKept = 256;

bool meets(const GmRows& rows, std::uintptr_t begin, std::uintptr_t end) {
  if (begin >= rows.end() || end <= rows.begin) return false;
  if (rows.count == 1 || rows.pitch <= rows.bytes) return true;
  // The first row that ends behind `begin`.
  const std::int64_t behind = begin > rows.begin ? static_cast<std::int64_t>(begin - rows.begin) : 0;
  std::int64_t row = behind / rows.pitch;
  if (row * rows.pitch + rows.bytes <= behind) ++row;
  return row < rows.count && rows.begin + static_cast<std::uintptr_t>(row * rows.pitch) < end;
}

bool meet(const GmRows& a, const GmRows& b) {
  if (a.begin >= b.end() || b.begin >= a.end()) return false;
  const GmRows &few = a.count < b.count ? a : b, &many = a.count < b.count ? b : a;
  for (std::int64_t i = 0; i < few.count; ++i) {
    const std::uintptr_t begin = few.begin + static_cast<std::uintptr_t>(i * few.pitch);
    if (meets(many, begin, begin + static_cast<std::uintptr_t>(few.bytes))) return true;
  }
  return false;
}

}  // namespace

GmOrder::Conflict GmOrder::touch(const Pipes& pipes, Pipe p, const GmRows& rows, int site) {
  Conflict conflict;
  if (rows.count <= 0 || rows.bytes <= 0) return conflict;
  for (const Pipe other : {Pipe::MTE2, Pipe::MTE3, Pipe::FIX}) {
    // One pipe's own instructions are in order, and MTE2 alone reads.
    if (other == p) continue;
    List& list = of(other);
    // What is ordered now stays so.
    while (!list.empty() && pipes.ordered(p, other, list.front().number)) list.pop_front();
    if (conflict.found) continue;
    const auto at =
        std::find_if(list.begin(), list.end(), [&](const Access& a) { return meet(a.rows, rows); });
    if (at != list.end()) conflict = {true, other != Pipe::MTE2, other, at->site};
  }
  List& own = of(p);
  // An instruction may tell what it touches piece by piece.
  if (!own.empty() && own.back().number == pipes.next(p) && own.back().rows.count == 1 && rows.count == 1 &&
      own.back().rows.end() == rows.begin) {
    own.back().rows.bytes += rows.bytes;
    return conflict;
  }
  own.push_back({rows, pipes.next(p), site});
  if (own.size() > kKept) own.pop_front();
  return conflict;
}

}  // namespace atc::ascendc
