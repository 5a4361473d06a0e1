#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

namespace atc::driver {

/// How a piece of isolated work ended.
struct IsolatedResult {
  enum class End { Finished, Crashed, TimedOut };
  End end = End::Finished;
  std::string result;     ///< Finished: what the work returned
  std::string crash;      ///< Crashed: "signal 11 (Segmentation fault)" or "exit code 3"
  std::string last_line;  ///< the last line that the work printed, for crashes
};

/// Runs work(0) ... work(count - 1), each in a forked child with its own time limit, at most `jobs` at
/// once. What the work prints is kept back. `done` is called in the parent in order of the index.
/// Precondition: the calling process has no other threads (a fork would copy their locks as they are).
void run_isolated(std::size_t count, int jobs, std::chrono::milliseconds limit,
                  const std::function<std::string(std::size_t)>& work,
                  const std::function<void(std::size_t, const IsolatedResult&)>& done);

}  // namespace atc::driver
