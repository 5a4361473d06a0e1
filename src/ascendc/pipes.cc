#include "ascendc/pipes.h"

#include <algorithm>

namespace atc::ascendc {
namespace {

/// Cycles in which the scalar unit computes the addresses of an instruction and hands it to its pipe.
constexpr Cycle kDispatch = 2;

void join_clock(Pipes::Clock& into, const Pipes::Clock& from) {
  for (std::size_t i = 0; i < into.size(); ++i) into[i] = std::max(into[i], from[i]);
}

}  // namespace

// What the scalar unit has waited for is done before it hands out the next instruction; its own stores are
// not: they need a flag.
bool Pipes::ordered(Pipe p, Pipe of, Number n) const {
  if (p == of) return true;
  const std::size_t q = index(of);
  if (seen_[index(p)][q] >= n) return true;
  return of != Pipe::S && seen_[index(Pipe::S)][q] >= n;
}

void Pipes::issue(Pipe p, Cycle duration, std::string_view what, std::int64_t bytes) {
  ++issued_[index(p)];
  if (!core_.timing()) return;
  const Cycle handed = core_.book(Pipe::S, kDispatch, "Scalar", 0, after_[index(Pipe::S)]);
  core_.book(p, duration, what, bytes, std::max(handed, after_[index(p)]));
}

void Pipes::scalar(Cycle cycles, std::string_view what) {
  ++issued_[index(Pipe::S)];
  if (core_.timing()) core_.book(Pipe::S, cycles, what, 0, after_[index(Pipe::S)]);
}

void Pipes::snapshot(Pipe from, Cycle& at, Clock& clock) const {
  clock = seen_[index(from)];
  const Number own_scalar = clock[index(Pipe::S)];
  join_clock(clock, seen_[index(Pipe::S)]);
  clock[index(Pipe::S)] = own_scalar;
  clock[index(from)] = issued_[index(from)];
  at = std::max(core_.free_at(from), after_[index(from)]);
}

void Pipes::join(Pipe to, Cycle at, const Clock& clock) {
  join_clock(seen_[index(to)], clock);
  after_[index(to)] = std::max(after_[index(to)], at);
}

void Pipes::set(Flag& flag, Pipe from, const AtcSite& by) {
  flag.set = true;
  flag.by = by;
  snapshot(from, flag.at, flag.clock);
}

void Pipes::wait(Flag& flag, Pipe to) {
  flag.set = false;
  join(to, flag.at, flag.clock);
}

void Pipes::barrier(Pipe p) { drained_[index(p)] = issued_[index(p)]; }

void Pipes::barrier_all() {
  Cycle last = 0;
  for (int p = 0; p < kPipeCount; ++p)
    last = std::max({last, core_.free_at(static_cast<Pipe>(p)), after_[static_cast<std::size_t>(p)]});
  release_all(last);
}

void Pipes::release_all(Cycle at) {
  for (std::size_t p = 0; p < kPipeCount; ++p) {
    seen_[p] = issued_;
    drained_[p] = issued_[p];
    after_[p] = std::max(after_[p], at);
  }
}

}  // namespace atc::ascendc
