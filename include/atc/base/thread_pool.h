#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace atc {

/// Runs index loops on a fixed set of threads. The calling thread takes part; workers spin for a
/// short time before they sleep, so back-to-back small loops start within a microsecond.
class ThreadPool {
 public:
  /// threads <= 0: one per hardware thread.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const;
  /// Calls fn(i, worker) for each i in [0, n), worker in [0, size()). Returns when all are done.
  /// The exception of the lowest i is rethrown here; indices not yet begun are then left out.
  /// A call from inside fn runs inline, as the same worker.
  void parallel_for(std::size_t n, const std::function<void(std::size_t i, int worker)>& fn);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace atc
