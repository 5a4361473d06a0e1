#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "ascendc/entry.h"
#include "ascendc/half.h"
#include "ascendc/launch.h"
#include "soc/chip.h"

namespace atc::ascendc::testing {

/// Runs kernels in process: arguments are vectors of the test, which are the kernel's Global Memory.
class Launcher {
 public:
  explicit Launcher(AtcKernel kernel, const char* chip = "Ascend910B3") : chip_(chip) {
    launch_.kernel = kernel;
  }

  template <class T>
  Launcher& arg(std::vector<T>& data, const char* name) {
    launch_.args.push_back(data.data());
    launch_.memory.push_back({reinterpret_cast<std::byte*>(data.data()),
                              static_cast<std::int64_t>(data.size() * sizeof(T)), name});
    return *this;
  }
  template <class T>
  Launcher& output(std::vector<T>& data, const char* name) {
    arg(data, name);
    launch_.memory.back().output = true;
    return *this;
  }
  template <class T>
  Launcher& object(T& value, const char* name) {
    launch_.args.push_back(&value);
    launch_.memory.push_back({reinterpret_cast<std::byte*>(&value), sizeof(T), name});
    return *this;
  }
  template <class T>
  Launcher& scalar(T value) {
    launch_.args.push_back(AscendC::detail::slot_of(value));
    return *this;
  }
  Launcher& blocks(int n) {
    launch_.block_dim = n;
    return *this;
  }
  Launcher& key(std::uint64_t k) {
    launch_.tiling_key = k;
    return *this;
  }
  Launcher& fast() {
    launch_.checks = false;
    return *this;
  }
  Launcher& type(int t) {
    launch_.type = t;
    return *this;
  }
  Launch& launch() { return launch_; }

  /// Whatever comes of it.
  Outcome run(int threads = 2) {
    ThreadPool pool(threads);
    return ascendc::run(*soc::find_chip(chip_).value(), launch_, pool);
  }
  /// Without a word: neither errors nor warnings.
  Outcome clean(int threads = 2) {
    Outcome o = run(threads);
    for (const Diagnostic& d : o.diagnostics) ADD_FAILURE() << to_string(d);
    return o;
  }

 private:
  const char* chip_;
  Launch launch_;
};

/// A kernel whose body is the test's own: one at a time.
using Body = std::function<void(void* const* args)>;
inline Body& body() {
  static Body b;
  return b;
}
inline void call_body(AtcBlock* block, const AtcCoreApi* api, void* const* args) {
  AscendC::detail::enter(block, api);
  body()(args);
}
inline Launcher launcher(Body b, const char* chip = "Ascend910B3") {
  body() = std::move(b);
  return Launcher(call_body, chip);
}

/// The diagnostic of this rule; the test fails without it.
inline Diagnostic find(const Outcome& o, const std::string& rule, const std::string& containing = "");

inline std::string text(const Outcome& o) {
  std::string s;
  for (const Diagnostic& d : o.diagnostics) s += to_string(d) + "\n";
  return s;
}

inline Diagnostic find(const Outcome& o, const std::string& rule, const std::string& containing) {
  for (const Diagnostic& d : o.diagnostics)
    if (d.rule == rule && d.text.find(containing) != std::string::npos) return d;
  ADD_FAILURE() << "no [" << rule << "] with '" << containing << "' in:\n" << text(o);
  return {};
}

template <class T = float>
std::vector<T> random(std::size_t n, float low, float high, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> u(low, high);
  std::vector<T> v(n);
  for (T& x : v) x = T(u(generator));
  return v;
}

}  // namespace atc::ascendc::testing
