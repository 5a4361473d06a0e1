#include "atc/base/thread_pool.h"

#include <immintrin.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace atc {
namespace {

constexpr auto kSpin = std::chrono::microseconds(40);
constexpr std::uint64_t kOpen = std::uint64_t{1} << 31;   // workers may join the loop
constexpr std::uint64_t kActive = kOpen - 1;              // mask: workers inside the loop
constexpr std::uint64_t kEpoch = std::uint64_t{1} << 32;  // one loop after the other

/// Polls `done` for a short while; true when it became true.
template <class Done>
bool spin(bool may_spin, const Done& done) {
  if (done()) return true;
  if (!may_spin) return false;
  const auto end = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int i = 0; i < 32; ++i) {
      _mm_pause();
      if (done()) return true;
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

}  // namespace

struct ThreadPool::Impl {
  // Which worker of which pool this thread is: a loop inside a loop runs inline under the same number.
  struct Here {
    const Impl* pool = nullptr;
    int worker = 0;
  };
  static thread_local Here here;

  std::vector<std::thread> threads;
  bool may_spin = true;
  std::recursive_mutex callers;  // one loop at a time

  // epoch << 32 | open << 31 | workers inside. The caller closes the loop when no index is left, so a
  // worker that wakes late never delays it.
  alignas(64) std::atomic<std::uint64_t> state{0};
  alignas(64) std::atomic<std::size_t> next{0};
  alignas(64) std::size_t count = 0;
  const std::function<void(std::size_t, int)>* fn = nullptr;

  std::mutex sleep;  // guards sleeping on the two conditions
  std::condition_variable work_ready, work_done;
  std::atomic<int> sleepers{0};
  std::atomic<bool> caller_sleeps{false};
  std::atomic<bool> stop{false};  // set before a last epoch

  std::mutex failure;
  std::exception_ptr exception;
  std::size_t exception_index = 0;

  void take_indices(int worker) {
    const Here outer = here;
    here = {this, worker};
    for (std::size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) {
      try {
        (*fn)(i, worker);
      } catch (...) {
        const std::lock_guard lock(failure);
        if (exception == nullptr || i < exception_index) {
          exception = std::current_exception();
          exception_index = i;
        }
        // Every lower index has been handed out already; the higher ones are not needed.
        next.store(count, std::memory_order_relaxed);
      }
    }
    here = outer;
  }

  bool news(std::uint64_t seen) const { return (state.load(std::memory_order_acquire) / kEpoch) != seen; }

  void wait_for_news(std::uint64_t seen) {
    if (spin(may_spin, [&] { return news(seen); })) return;
    std::unique_lock lock(sleep);
    sleepers.fetch_add(1);
    work_ready.wait(lock, [&] { return (state.load() / kEpoch) != seen; });
    sleepers.fetch_sub(1);
  }

  void work(int worker) {
    std::uint64_t seen = 0;
    for (;;) {
      wait_for_news(seen);
      std::uint64_t s = state.load();
      seen = s / kEpoch;
      if (stop.load()) return;
      while ((s & kOpen) != 0 && s / kEpoch == seen)
        if (state.compare_exchange_weak(s, s + 1)) {
          take_indices(worker);
          leave();
          break;
        }
    }
  }

  void leave() {
    const std::uint64_t before = state.fetch_sub(1);
    if ((before & kOpen) == 0 && (before & kActive) == 1 && caller_sleeps.load()) {
      const std::lock_guard lock(sleep);
      work_done.notify_one();
    }
  }

  void announce(std::uint64_t flags) {
    // seq_cst on both sides: either the sleeper sees the epoch or we see the sleeper.
    state.store((state.load() / kEpoch + 1) % kEpoch * kEpoch | flags);
    if (sleepers.load() > 0) {
      const std::lock_guard lock(sleep);
      work_ready.notify_all();
    }
  }

  void close_and_wait() {
    state.fetch_and(~kOpen);
    const auto idle = [&] { return (state.load() & kActive) == 0; };
    if (spin(may_spin, idle)) return;
    std::unique_lock lock(sleep);
    caller_sleeps.store(true);
    work_done.wait(lock, idle);
    caller_sleeps.store(false);
  }

  void run(std::size_t n, const std::function<void(std::size_t, int)>& body) {
    fn = &body;
    count = n;
    exception = nullptr;
    next.store(0, std::memory_order_relaxed);
    announce(kOpen);
    take_indices(0);
    close_and_wait();
    if (exception != nullptr) std::rethrow_exception(std::exchange(exception, nullptr));
  }
};

thread_local ThreadPool::Impl::Here ThreadPool::Impl::here;

ThreadPool::ThreadPool(int threads) : impl_(std::make_unique<Impl>()) {
  const int hardware = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const int size = threads > 0 ? threads : hardware;
  impl_->may_spin = size <= hardware;
  impl_->threads.reserve(static_cast<std::size_t>(size - 1));
  for (int worker = 1; worker < size; ++worker)
    impl_->threads.emplace_back([impl = impl_.get(), worker] { impl->work(worker); });
}

ThreadPool::~ThreadPool() {
  impl_->stop.store(true);
  impl_->announce(0);
  for (std::thread& thread : impl_->threads) thread.join();
}

int ThreadPool::size() const { return static_cast<int>(impl_->threads.size()) + 1; }

void ThreadPool::parallel_for(std::size_t n, const std::function<void(std::size_t, int)>& fn) {
  if (n == 0) return;
  if (Impl::here.pool == impl_.get()) {
    for (std::size_t i = 0; i < n; ++i) fn(i, Impl::here.worker);
    return;
  }
  const std::lock_guard lock(impl_->callers);
  if (n == 1 || impl_->threads.empty()) {
    for (std::size_t i = 0; i < n; ++i) fn(i, 0);
    return;
  }
  impl_->run(n, fn);
}

}  // namespace atc
