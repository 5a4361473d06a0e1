#pragma once

// Tiling data classes of op_host: BEGIN_TILING_DATA_DEF and its kin. A class keeps its fields as members and
// a list of them, from which the kernel's plain structure is generated and filled.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace optiling {

class TilingDef;

/// One field; `offset` is that of its member from the TilingDef, since classes are copied.
struct TilingField {
  std::string type, name;
  std::ptrdiff_t offset = 0;
  std::size_t bytes = 0, alignment = 1, count = 1;
  bool is_array = false;
  TilingDef* (*nested)(TilingDef* owner, std::ptrdiff_t offset) = nullptr;
};

class TilingDef {
 public:
  static constexpr std::size_t kAlignment = 8;

  virtual ~TilingDef() = default;
  /// `header`: of a class of the library, the one in which kernels find its structure.
  explicit TilingDef(const char* name, const char* header = nullptr) : name_(name), header_(header) {}
  const char* GetTilingClassName() const { return name_; }
  const std::vector<TilingField>& fields() const { return fields_; }
  void add(TilingField field) { fields_.push_back(std::move(field)); }

  std::size_t GetDataSize() const {
    std::size_t at = 0;
    for (const TilingField& f : fields_) at = begin_of(f, at) + bytes_of(f);
    return up(at, kAlignment);
  }
  /// Writes the kernel's structure; nothing when it does not fit.
  void SaveToBuffer(void* data, std::size_t capacity) {
    if (GetDataSize() > capacity) return;
    std::memset(data, 0, GetDataSize());
    std::size_t at = 0;
    for (const TilingField& f : fields_) {
      at = begin_of(f, at);
      char* to = static_cast<char*>(data) + at;
      if (f.nested != nullptr)
        f.nested(this, f.offset)->SaveToBuffer(to, capacity - at);
      else
        std::memcpy(to, reinterpret_cast<const char*>(this) + f.offset, bytes_of(f));
      at += bytes_of(f);
    }
  }
  /// The structures as the kernel's compiler reads them, nested ones first; each name once.
  void print(std::map<std::string, bool>& known, std::string& out) {
    for (const TilingField& f : fields_)
      if (f.nested != nullptr) f.nested(this, f.offset)->print(known, out);
    if (known[header_ != nullptr ? header_ : name_]) return;
    known[header_ != nullptr ? header_ : name_] = true;
    if (header_ != nullptr) {
      out += "#include \"" + std::string(header_) + "\"\n";
      return;
    }
    out += "struct alignas(8) " + std::string(name_) + " {\n";
    for (const TilingField& f : fields_)
      out += "  " + (f.nested != nullptr ? std::string(f.nested(this, f.offset)->name_) : f.type) + " " +
             f.name + (f.is_array ? "[" + std::to_string(f.count) + "]" : "") + ";\n";
    out += "};\n";
  }

 private:
  static std::size_t up(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }
  std::size_t bytes_of(const TilingField& f) const {
    return f.nested != nullptr ? f.nested(const_cast<TilingDef*>(this), f.offset)->GetDataSize()
                               : f.bytes * f.count;
  }
  static std::size_t begin_of(const TilingField& f, std::size_t at) {
    return up(at, f.nested != nullptr ? kAlignment : f.alignment);
  }
  const char* name_;
  const char* header_;
  std::vector<TilingField> fields_;
};

/// Lists a member when its class is made; copies of the class have the list already.
class TilingFieldEntry {
 public:
  TilingFieldEntry(TilingDef& owner, TilingField field) { owner.add(std::move(field)); }
};

template <class T>
TilingDef* nested_tiling(TilingDef* owner, std::ptrdiff_t offset) {
  return reinterpret_cast<T*>(reinterpret_cast<char*>(owner) + offset);
}

/// Tiling classes by operator type, filled by REGISTER_TILING_DATA_CLASS.
inline std::map<std::string, TilingDef* (*)()>& tiling_classes() {
  static std::map<std::string, TilingDef* (*)()> classes;
  return classes;
}

struct TilingClassEntry {
  TilingClassEntry(const char* type, TilingDef* (*make)()) { tiling_classes()[type] = make; }
};

}  // namespace optiling

#define BEGIN_TILING_DATA_DEF(Class)         \
  class Class : public optiling::TilingDef { \
   public:                                   \
    Class() : optiling::TilingDef(#Class) {}

#define TILING_DATA_FIELD_DEF(Type, name)                                                                    \
 private:                                                                                                    \
  Type name##_{};                                                                                            \
  optiling::TilingFieldEntry name##_entry_{                                                                  \
      *this,                                                                                                 \
      {#Type, #name,                                                                                         \
       reinterpret_cast<char*>(&name##_) - reinterpret_cast<char*>(static_cast<optiling::TilingDef*>(this)), \
       sizeof(Type), alignof(Type), 1, false, nullptr}};                                                     \
                                                                                                             \
 public:                                                                                                     \
  void set_##name(Type value) { name##_ = value; }                                                           \
  Type get_##name() const { return name##_; }

#define TILING_DATA_FIELD_DEF_ARR(Type, size, name)                                                         \
 private:                                                                                                   \
  Type name##_[size]{};                                                                                     \
  optiling::TilingFieldEntry name##_entry_{                                                                 \
      *this,                                                                                                \
      {#Type, #name,                                                                                        \
       reinterpret_cast<char*>(name##_) - reinterpret_cast<char*>(static_cast<optiling::TilingDef*>(this)), \
       sizeof(Type), alignof(Type), size, true, nullptr}};                                                  \
                                                                                                            \
 public:                                                                                                    \
  void set_##name(const Type* values) { std::memcpy(name##_, values, sizeof name##_); }                     \
  const Type* get_##name() const { return name##_; }                                                        \
  Type* get_##name() { return name##_; }

#define TILING_DATA_FIELD_DEF_STRUCT(Type, name)                                                     \
 public:                                                                                             \
  Type name;                                                                                         \
                                                                                                     \
 private:                                                                                            \
  optiling::TilingFieldEntry name##_entry_{                                                          \
      *this,                                                                                         \
      {#Type, #name,                                                                                 \
       reinterpret_cast<char*>(static_cast<optiling::TilingDef*>(&name)) -                           \
           reinterpret_cast<char*>(static_cast<optiling::TilingDef*>(this)),                         \
       0, optiling::TilingDef::kAlignment, 1, false, optiling::nested_tiling<optiling::TilingDef>}}; \
                                                                                                     \
 public:

#define END_TILING_DATA_DEF }

#define ATC_OPP_JOIN_(a, b) a##b
#define ATC_OPP_JOIN(a, b) ATC_OPP_JOIN_(a, b)

#define REGISTER_TILING_DATA_CLASS(Op, Class)                                              \
  static const optiling::TilingClassEntry ATC_OPP_JOIN(tiling_class_of_##Op##_, __LINE__)( \
      #Op, []() -> optiling::TilingDef* { return new Class(); });
