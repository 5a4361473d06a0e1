#pragma once

// Unit tests of a project's operators: kernels run on the simulated AI Core over seeded data, with all
// checks, for each combination of element types, and are compared with a function of the user's.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "ascendc/half.h"
#include "atc/unit_test.h"

namespace atc_opp {

/// Elements as doubles, row-major; what the operator sees is rounded to its element type.
struct Tensor {
  std::vector<std::int64_t> dims;
  std::vector<double> data;
  double& operator[](std::size_t i) { return data[i]; }
  double operator[](std::size_t i) const { return data[i]; }
};

/// Fills the outputs (their dims are set) with what the operator must give for the inputs; false: it does not
/// know, and results are only checked to be written and finite.
using Golden = std::function<bool(const std::vector<Tensor>& inputs, std::vector<Tensor>& outputs)>;

namespace detail {

template <class T>
void store(const std::vector<double>& from, std::vector<char>& to) {
  to.resize(from.size() * sizeof(T));
  for (std::size_t i = 0; i < from.size(); ++i) {
    T v;
    if constexpr (std::is_arithmetic_v<T>)
      v = static_cast<T>(from[i]);
    else
      v = static_cast<T>(static_cast<float>(from[i]));
    std::memcpy(to.data() + i * sizeof(T), &v, sizeof(T));
  }
}
template <class T>
void load(const void* from, std::vector<double>& to) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    T v;
    std::memcpy(&v, static_cast<const char*>(from) + i * sizeof(T), sizeof(T));
    to[i] = static_cast<double>(v);
  }
}
struct TypeOf {
  std::int32_t dtype;
  const char* name;
  double tolerance;  ///< relative to the largest element; 0: exact
  void (*store)(const std::vector<double>&, std::vector<char>&);
  void (*load)(const void*, std::vector<double>&);
};

inline const TypeOf* type_of(std::int32_t dtype) {
  static const TypeOf kTypes[] = {{ATC_DT_FLOAT, "float", 1e-5, store<float>, load<float>},
                                  {ATC_DT_FLOAT16, "half", 2e-3, store<half>, load<half>},
                                  {ATC_DT_BF16, "bfloat16_t", 1.6e-2, store<bfloat16_t>, load<bfloat16_t>},
                                  {ATC_DT_DOUBLE, "double", 1e-12, store<double>, load<double>},
                                  {ATC_DT_INT8, "int8_t", 0, store<std::int8_t>, load<std::int8_t>},
                                  {ATC_DT_UINT8, "uint8_t", 0, store<std::uint8_t>, load<std::uint8_t>},
                                  {ATC_DT_INT16, "int16_t", 0, store<std::int16_t>, load<std::int16_t>},
                                  {ATC_DT_UINT16, "uint16_t", 0, store<std::uint16_t>, load<std::uint16_t>},
                                  {ATC_DT_INT32, "int32_t", 0, store<std::int32_t>, load<std::int32_t>},
                                  {ATC_DT_UINT32, "uint32_t", 0, store<std::uint32_t>, load<std::uint32_t>},
                                  {ATC_DT_INT64, "int64_t", 0, store<std::int64_t>, load<std::int64_t>},
                                  {ATC_DT_UINT64, "uint64_t", 0, store<std::uint64_t>, load<std::uint64_t>},
                                  {ATC_DT_BOOL, "bool", 0, store<bool>, load<bool>}};
  for (const TypeOf& t : kTypes)
    if (t.dtype == dtype) return &t;
  return nullptr;
}

/// The file of this name beside the running program.
inline std::string beside_program(const char* name) {
  char path[4096] = {};
  const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
  const std::string program(path, n > 0 ? static_cast<std::size_t>(n) : 0);
  return program.substr(0, program.rfind('/') + 1) + name;
}

}  // namespace detail

#ifndef ATC_UNIT_TEST_LIBRARY
#define ATC_UNIT_TEST_LIBRARY "libproject.so"
#endif

class UnitTest {
 public:
  explicit UnitTest(const char* type, Golden golden = nullptr)
      : type_(type),
        golden_(std::move(golden)),
        test_(atc_unit_open(detail::beside_program(ATC_UNIT_TEST_LIBRARY).c_str(), type)) {
    if (test_ == nullptr) ++failures_;
  }
  ~UnitTest() {
    if (test_ != nullptr) atc_unit_close(test_);
  }
  UnitTest(const UnitTest&) = delete;
  UnitTest& operator=(const UnitTest&) = delete;

  /// Attributes of the runs that follow; others have their defaults.
  UnitTest& Int(const char* name, std::int64_t value) {
    attr(name, ATC_ATTR_INT).i = value;
    return *this;
  }
  UnitTest& Bool(const char* name, bool value) {
    attr(name, ATC_ATTR_BOOL).i = value ? 1 : 0;
    return *this;
  }
  UnitTest& Float(const char* name, float value) {
    attr(name, ATC_ATTR_FLOAT).f = value;
    return *this;
  }
  /// Floating inputs are uniform in it, integers are its whole numbers; [-1, 1] and [-8, 8] by default.
  UnitTest& Range(double low, double high) {
    low_ = low, high_ = high, ranged_ = true;
    return *this;
  }
  /// Of results, relative to their largest; by element type otherwise.
  UnitTest& Tolerance(double relative) {
    tolerance_ = relative;
    return *this;
  }

  /// Inputs of these dims, in the operator's order, in each combination of element types.
  void Run(const std::vector<std::vector<std::int64_t>>& dims) {
    if (test_ == nullptr) return;
    if (dims.size() != atc_unit_inputs(test_)) {
      fail("", "the test gives " + std::to_string(dims.size()) + " inputs, the operator has " +
                   std::to_string(atc_unit_inputs(test_)));
      return;
    }
    for (std::uint32_t c = 0; c < atc_unit_combinations(test_); ++c) run(c, dims);
  }
  /// For main to return: 0 when all went well.
  int Failures() const {
    std::printf("%s: %d runs, %d failed\n", type_.c_str(), runs_, failures_);
    return failures_ == 0 ? 0 : 1;
  }

 private:
  AtcCustomAttr& attr(const char* name, std::uint32_t kind) {
    AtcCustomAttr a = {};
    a.name = name;
    a.kind = kind;
    attrs_.push_back(a);
    return attrs_.back();
  }
  void fail(const std::string& what, const std::string& why) {
    ++failures_;
    std::printf("FAILED %s%s: %s\n", type_.c_str(), what.c_str(), why.c_str());
  }
  static std::string text(const std::vector<std::int64_t>& dims) {
    std::string out;
    for (const std::int64_t d : dims) out += (out.empty() ? "" : ",") + std::to_string(d);
    return "[" + out + "]";
  }

  void run(std::uint32_t combination, const std::vector<std::vector<std::int64_t>>& dims) {
    ++runs_;
    std::vector<Tensor> inputs;
    std::vector<std::vector<char>> bytes(dims.size());
    std::vector<AtcUnitTensor> raw(dims.size());
    std::string what;
    for (std::size_t i = 0; i < dims.size(); ++i) {
      const detail::TypeOf* type =
          detail::type_of(atc_unit_input_dtype(test_, combination, static_cast<std::uint32_t>(i)));
      if (type == nullptr || dims[i].size() > ATC_CUSTOM_OP_MAX_RANK)
        return fail(what, "no test has such an input");
      what += std::string(i == 0 ? " " : ", ") + type->name + text(dims[i]);
      Tensor t{dims[i], {}};
      std::size_t count = 1;
      for (const std::int64_t d : dims[i]) count *= static_cast<std::size_t>(d);
      t.data.resize(count);
      // Engines give the same numbers everywhere, distributions do not.
      std::mt19937_64 random(1000 * (i + 1) + combination);
      const bool whole = type->tolerance == 0;
      const double low = ranged_ ? low_ : whole ? -8 : -1, high = ranged_ ? high_ : whole ? 8 : 1;
      for (double& v : t.data) {
        v = low + (high - low) * (static_cast<double>(random() >> 11) / 9007199254740992.0);
        if (whole) v = std::floor(v);
      }
      type->store(t.data, bytes[i]);
      type->load(bytes[i].data(), t.data);
      AtcUnitTensor& r = raw[i];
      r.dtype = type->dtype;
      r.rank = static_cast<std::int32_t>(dims[i].size());
      std::copy(dims[i].begin(), dims[i].end(), r.dims);
      r.data = bytes[i].data();
      r.bytes = bytes[i].size();
      inputs.push_back(std::move(t));
    }
    std::vector<AtcUnitTensor> made(atc_unit_outputs(test_));
    if (atc_unit_run(test_, combination, raw.data(), attrs_.data(), static_cast<std::uint32_t>(attrs_.size()),
                     made.data()) != 0)
      return fail(what, "see above");
    std::vector<Tensor> outputs, expected;
    for (const AtcUnitTensor& m : made) {
      const detail::TypeOf* type = detail::type_of(m.dtype);
      if (type == nullptr) return fail(what, "an output has an element type that tests do not know");
      Tensor t{{m.dims, m.dims + m.rank}, {}};
      std::size_t count = 1;
      for (const std::int64_t d : t.dims) count *= static_cast<std::size_t>(d);
      t.data.resize(count);
      type->load(m.data, t.data);
      expected.push_back({t.dims, std::vector<double>(count)});
      outputs.push_back(std::move(t));
    }
    const bool known = golden_ && golden_(inputs, expected);
    for (std::size_t o = 0; o < outputs.size(); ++o)
      if (!compare(what, static_cast<std::uint32_t>(o), made[o].dtype, outputs[o],
                   known ? &expected[o] : nullptr))
        return;
    std::printf("ok     %s%s: %lld cycles%s\n", type_.c_str(), what.c_str(),
                static_cast<long long>(atc_unit_cycles(test_)), known ? "" : ", finite (no golden function)");
  }

  bool compare(const std::string& what, std::uint32_t output, std::int32_t dtype, const Tensor& got,
               const Tensor* want) {
    const detail::TypeOf& type = *detail::type_of(dtype);
    double largest = 0;
    if (want != nullptr)
      for (const double v : want->data) largest = std::max(largest, std::abs(v));
    const double allowed = (tolerance_ > 0 ? tolerance_ : type.tolerance) * largest;
    for (std::size_t i = 0; i < got.data.size(); ++i) {
      const double v = got.data[i], w = want == nullptr ? 0 : want->data[i];
      const bool fine = want == nullptr
                            ? type.tolerance == 0 || std::isfinite(v)
                            : std::abs(v - w) <= allowed || (std::isnan(v) && std::isnan(w)) || v == w;
      if (fine) continue;
      char line[256];
      std::snprintf(line, sizeof line, "element %zu of output '%s' is %.9g%s", i,
                    atc_unit_output_name(test_, output), v, std::isnan(v) ? " (never written?)" : "");
      std::string why = line;
      if (want != nullptr) {
        std::snprintf(line, sizeof line, ", the golden function gives %.9g, %.3g apart are allowed", w,
                      allowed);
        why += line;
      }
      fail(what, why);
      return false;
    }
    return true;
  }

  std::string type_;
  Golden golden_;
  AtcUnitTest* test_ = nullptr;
  std::vector<AtcCustomAttr> attrs_;
  double low_ = 0, high_ = 0, tolerance_ = 0;
  bool ranged_ = false;
  int runs_ = 0, failures_ = 0;
};

}  // namespace atc_opp
