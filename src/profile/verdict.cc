#include "profile/verdict.h"

#include <algorithm>
#include <cstdio>

namespace atc::profile {
namespace {

using aicore::Pipe;

/// A pipe that is busy for more of the time than this is what the rest waits for.
constexpr double kLimiting = 0.75;
/// Of the shorter of copy and compute: with less than this at once, buffers stand in the way.
constexpr double kOverlapping = 0.5;
/// Copies below this many bytes pay more for their beginning than for their bytes (MODEL.md).
constexpr double kShortCopy = 4096;
/// A longest core that works that much longer than the mean wastes the others.
constexpr double kUneven = 1.2;

Bound bound_of(Pipe p) {
  switch (p) {
    case Pipe::V:
      return Bound::Vector;
    case Pipe::M:
      return Bound::Cube;
    case Pipe::MTE1:
      return Bound::Feed;
    case Pipe::MTE2:
      return Bound::CopyIn;
    case Pipe::MTE3:
    case Pipe::FIX:
      return Bound::CopyOut;
    case Pipe::S:
      break;
  }
  return Bound::Scalar;
}

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

std::string text(const char* format, double a, double b = 0) {
  char buffer[256];
  std::snprintf(buffer, sizeof buffer, format, a, b);
  return buffer;
}

class Judge {
 public:
  explicit Judge(const LaunchUse& launch) : launch_(launch) {
    if (!launch.cores.empty())
      longest_ = *std::max_element(launch.cores.begin(), launch.cores.end(),
                                   [](const CoreUse& a, const CoreUse& b) { return a.cycles < b.cycles; });
  }

  Verdict run() {
    find_bound();
    if (out_.bound == Bound::Launch) {
      advise(text("%.1f of %.1f us pass before the cores work: fuse the operator with a neighbour",
                  launch_.launch_us, launch_.us) +
             (launch_.blocks > 1 ? ", or launch fewer blocks." : "."));
      return out_;
    }
    advise_on_overlap();
    advise_on_copies(Pipe::MTE2, "in");
    advise_on_copies(Pipe::MTE3, "out");
    advise_on_cores();
    if (out_.advice.empty()) advise_on_bound();
    return out_;
  }

 private:
  void advise(std::string sentence) { out_.advice.push_back(std::move(sentence)); }

  void find_bound() {
    const double on_cores = launch_.us - launch_.launch_us;
    if (longest_.cycles == 0 || launch_.launch_us > on_cores) {
      out_.bound = Bound::Launch;
      out_.share = ratio(launch_.launch_us, launch_.us);
      return;
    }
    for (std::size_t p = 0; p < longest_.pipes.size(); ++p) {
      const double share = busy(static_cast<Pipe>(p));
      if (share <= out_.share) continue;
      out_.share = share;
      out_.bound = bound_of(static_cast<Pipe>(p));
    }
    if (out_.share < kLimiting) out_.bound = Bound::Waiting;
  }

  double busy(Pipe p) const {
    return ratio(static_cast<double>(longest_[p].busy), static_cast<double>(longest_.cycles));
  }

  void advise_on_overlap() {
    const auto shorter = static_cast<double>(std::min(longest_.copy, longest_.compute));
    if (out_.bound != Bound::Waiting || shorter == 0) return;
    const double at_once = ratio(static_cast<double>(longest_.both), shorter);
    if (at_once >= kOverlapping) return;
    const double saved = shorter - static_cast<double>(longest_.both);
    advise(
        text("copy and compute overlap in %.0f %% of the time that they could: double buffering (two buffers "
             "a queue, BUFFER_NUM = 2) would hide up to %.0f %% of the core's time.",
             100 * at_once, 100 * ratio(saved, static_cast<double>(longest_.cycles))));
  }

  void advise_on_copies(Pipe p, const char* way) {
    const PipeUse& use = longest_[p];
    const double each = ratio(static_cast<double>(use.bytes), static_cast<double>(use.instructions));
    if (use.instructions < 4 || each >= kShortCopy || busy(p) < kLimiting / 2) return;
    advise("copies " + std::string(way) +
           text(" move %.0f bytes each: merge them (blockCount and strides in one DataCopy) or take bigger "
                "tiles.",
                each));
  }

  void advise_on_cores() {
    if (launch_.cores.empty()) return;
    double sum = 0;
    for (const CoreUse& c : launch_.cores) sum += static_cast<double>(c.cycles);
    const double mean = sum / static_cast<double>(launch_.cores.size());
    const auto worked = static_cast<int>(launch_.cores.size());
    if (worked * 2 <= launch_.chip_cores)
      advise(text("%.0f of %.0f cores work: cut the work into more blocks.", worked, launch_.chip_cores));
    else if (static_cast<double>(longest_.cycles) > kUneven * mean)
      advise(
          text("the longest core works %.2f times as long as the mean of them: share the work more evenly.",
               static_cast<double>(longest_.cycles) / mean));
  }

  void advise_on_bound() {
    switch (out_.bound) {
      case Bound::CopyIn:
      case Bound::CopyOut:
        return advise(
            "the copies are long and the rest hides behind them: only moving fewer bytes helps (fuse with "
            "a neighbour, a narrower type, keep data on chip).");
      case Bound::Cube:
        return advise(
            "the cube is busy: whole fractals (multiples of 16) and a narrower type are what is left.");
      case Bound::Vector:
        return advise(
            "the vector unit is busy: fewer passes over the data, fused instructions, a narrower type.");
      case Bound::Feed:
        return advise("L1 to L0 is busy: bigger L0 tiles read each operand fewer times.");
      case Bound::Scalar:
        return advise("the scalar unit is busy: fewer, longer instructions; no element access in loops.");
      case Bound::Waiting:
        return advise("the pipes wait for each other: bigger tiles, or more of them in flight.");
      case Bound::Launch:
        return;
    }
  }

  const LaunchUse& launch_;
  CoreUse longest_;
  Verdict out_;
};

}  // namespace

std::string_view name(Bound b) {
  switch (b) {
    case Bound::Launch:
      return "launch";
    case Bound::CopyIn:
      return "copy in";
    case Bound::CopyOut:
      return "copy out";
    case Bound::Cube:
      return "cube";
    case Bound::Vector:
      return "vector";
    case Bound::Feed:
      return "L1 to L0";
    case Bound::Scalar:
      return "scalar";
    case Bound::Waiting:
      return "waiting";
  }
  return "";
}

Verdict judge(const LaunchUse& launch) { return Judge(launch).run(); }

}  // namespace atc::profile
