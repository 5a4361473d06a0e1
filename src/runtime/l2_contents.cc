#include "runtime/l2_contents.h"

#include <algorithm>
#include <iterator>

namespace atc::runtime {

L2Contents::Traffic L2Contents::touch(std::int64_t begin, std::int64_t bytes, bool write) {
  Traffic traffic;
  if (bytes <= 0) return traffic;
  // A range that is read stays to be written back if any of it was; that errs by less than one range.
  bool dirty = false;
  traffic.hits = cut(begin, begin + bytes, dirty);
  insert(begin, {begin + bytes, ++clock_, dirty || write});
  traffic.written_back = evict();
  return traffic;
}

// Takes [begin, end) out. Gives how many bytes of it were here.
std::int64_t L2Contents::cut(std::int64_t begin, std::int64_t end, bool& dirty) {
  std::int64_t found = 0;
  auto it = pieces_.upper_bound(begin);
  if (it != pieces_.begin() && std::prev(it)->second.end > begin) --it;
  while (it != pieces_.end() && it->first < end) {
    const std::int64_t first = it->first;
    const Piece piece = it->second;
    const auto next = std::next(it);
    erase(it);
    if (first < begin) insert(first, {begin, piece.stamp, piece.dirty});
    if (piece.end > end) insert(end, {piece.end, piece.stamp, piece.dirty});
    found += std::min(end, piece.end) - std::max(begin, first);
    dirty = dirty || piece.dirty;
    it = next;
  }
  return found;
}

void L2Contents::insert(std::int64_t begin, const Piece& piece) {
  pieces_.emplace(begin, piece);
  by_age_.emplace(piece.stamp, begin);
  used_ += piece.end - begin;
}

void L2Contents::erase(Pieces::iterator it) {
  by_age_.erase({it->second.stamp, it->first});
  used_ -= it->second.end - it->first;
  pieces_.erase(it);
}

// Drops the oldest bytes until the rest fits. Gives how many of them were written.
std::int64_t L2Contents::evict() {
  std::int64_t written_back = 0;
  while (used_ > capacity_) {
    const auto it = pieces_.find(by_age_.begin()->second);
    const std::int64_t begin = it->first;
    const Piece piece = it->second;
    const std::int64_t n = std::min(piece.end - begin, used_ - capacity_);
    erase(it);
    if (begin + n < piece.end) insert(begin + n, piece);
    if (piece.dirty) written_back += n;
  }
  return written_back;
}

}  // namespace atc::runtime
