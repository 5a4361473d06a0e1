#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "custom/manifest.h"

namespace atc::custom {

/// Messages between the tool and the child process that holds a library. Both are the same program, so the
/// form is that of memory; but a library may have damaged the child, so a reader checks all it is given.
class WireWriter {
 public:
  static constexpr bool kReads = false;
  template <class T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) void operator()(const T& v) {
    out_.append(reinterpret_cast<const char*>(&v), sizeof v);
  }
  void operator()(const std::string& v) {
    (*this)(static_cast<std::uint64_t>(v.size()));
    out_ += v;
  }
  template <class T>
  void operator()(const std::vector<T>& v) {
    (*this)(static_cast<std::uint64_t>(v.size()));
    for (const T& item : v) visit(item);
  }
  template <class T>
  void visit(const T& v) {
    if constexpr (requires(WireWriter & w) { io(w, const_cast<T&>(v)); })
      io(*this, const_cast<T&>(v));
    else
      (*this)(v);
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

class WireReader {
 public:
  static constexpr bool kReads = true;
  explicit WireReader(std::string_view in) : in_(in) {}
  template <class T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) void operator()(T& v) {
    v = T{};
    if (!has(sizeof v)) return;
    if constexpr (std::is_same_v<T, bool>)
      v = in_[0] != 0;
    else
      std::memcpy(&v, in_.data(), sizeof v);
    in_.remove_prefix(sizeof v);
  }
  void operator()(std::string& v) {
    std::uint64_t size = 0;
    (*this)(size);
    v.clear();
    if (!has(size)) return;
    v.assign(in_.substr(0, size));
    in_.remove_prefix(size);
  }
  template <class T>
  void operator()(std::vector<T>& v) {
    std::uint64_t size = 0;
    (*this)(size);
    v.clear();
    // Every item takes a byte or more.
    if (!has(size)) return;
    for (std::uint64_t i = 0; i < size && ok_; ++i) visit(v.emplace_back());
  }
  template <class T>
  void visit(T& v) {
    if constexpr (requires(WireReader & r) { io(r, v); })
      io(*this, v);
    else
      (*this)(v);
  }
  /// Everything was there, and nothing is left.
  bool done() const { return ok_ && in_.empty(); }

 private:
  bool has(std::uint64_t size) {
    ok_ = ok_ && size <= in_.size();
    return ok_;
  }
  std::string_view in_;
  bool ok_ = true;
};

// The structures that are sent, field by field.

template <class A>
void io(A& a, AttrValue& v) {
  a(v.name), a(v.kind), a(v.i), a(v.f), a(v.s), a(v.ints), a(v.floats);
}
template <class A>
void io(A& a, AttrInfo& v) {
  io(a, v.value), a(v.required);
}
template <class A>
void io(A& a, ParamInfo& v) {
  a(v.name), a(v.optional), a(v.wants_data), a(v.dtypes), a(v.formats);
}
template <class A>
void io(A& a, OpInfo& v) {
  a(v.type), a(v.domain), a(v.inputs), a(v.outputs), a(v.attrs), a(v.chips), a(v.origins);
  a(v.parses_attributes), a(v.combinations);
}
template <class A>
void io(A& a, LibraryInfo& v) {
  a(v.ops);
}
template <class A>
void io(A& a, TensorInfo& v) {
  bool has_shape = v.shape.has_value();
  Dims dims = has_shape ? *v.shape : Dims{};
  a(v.dtype), a(has_shape), a(dims), a(v.data);
  if constexpr (A::kReads) {
    v.shape.reset();
    if (has_shape) v.shape = dims;
  }
}
template <class A>
void io(A& a, Call& v) {
  a(v.op), a(v.inputs), a(v.outputs), a(v.attrs);
}
template <class A>
void io(A& a, Tiling& v) {
  a(v.block_dim), a(v.kernel_type), a(v.schedule_mode), a(v.tiling_key), a(v.workspace_bytes), a(v.data);
}

template <class T>
std::string encode(const T& v) {
  WireWriter w;
  w.visit(v);
  return w.take();
}
/// False when the message is not a whole T.
template <class T>
bool decode(std::string_view message, T& v) {
  WireReader r(message);
  r.visit(v);
  return r.done();
}

}  // namespace atc::custom
