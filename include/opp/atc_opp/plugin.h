#pragma once

// The ONNX plugin of a project: REGISTER_CUSTOM_OP("X").FrameworkType(ONNX).OriginOpType(...)...
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "atc_opp/op_def.h"

namespace ge {

/// An operator whose attributes a plugin reads and sets. Of an ONNX node there is the one attribute
/// "attribute", a JSON text with all of them, and each by its own name too.
class Operator {
 public:
  Operator() = default;
  explicit Operator(const std::vector<AtcCustomAttr>& onnx) {
    for (const AtcCustomAttr& a : onnx) attrs_[a.name] = keep(a);
  }

  graphStatus GetAttr(const char* name, std::int64_t& value) const {
    return get(name, ATC_ATTR_INT, [&](const Kept& k) { value = k.i; });
  }
  graphStatus GetAttr(const char* name, std::int32_t& value) const {
    return get(name, ATC_ATTR_INT, [&](const Kept& k) { value = static_cast<std::int32_t>(k.i); });
  }
  graphStatus GetAttr(const char* name, bool& value) const {
    return get(name, ATC_ATTR_INT, [&](const Kept& k) { value = k.i != 0; });
  }
  graphStatus GetAttr(const char* name, float& value) const {
    return get(name, ATC_ATTR_FLOAT, [&](const Kept& k) { value = k.f; });
  }
  graphStatus GetAttr(const char* name, std::vector<std::int64_t>& value) const {
    return get(name, ATC_ATTR_INTS, [&](const Kept& k) { value = k.ints; });
  }
  graphStatus GetAttr(const char* name, std::vector<float>& value) const {
    return get(name, ATC_ATTR_FLOATS, [&](const Kept& k) { value = k.floats; });
  }
  graphStatus GetAttr(const char* name, std::string& value) const {
    if (std::string(name) == "attribute") {
      value = json();
      return GRAPH_SUCCESS;
    }
    return get(name, ATC_ATTR_STRING, [&](const Kept& k) { value = k.s; });
  }
  graphStatus GetAttr(const char* name, AscendString& value) const {
    std::string text;
    const graphStatus status = GetAttr(name, text);
    if (status == GRAPH_SUCCESS) value = AscendString(text.c_str());
    return status;
  }
  template <class T>
  graphStatus GetAttr(const std::string& name, T& value) const {
    return GetAttr(name.c_str(), value);
  }

  Operator& SetAttr(const char* name, std::int64_t v) {
    Kept k;
    k.i = v;
    return put(name, ATC_ATTR_INT, std::move(k));
  }
  Operator& SetAttr(const char* name, std::int32_t v) { return SetAttr(name, static_cast<std::int64_t>(v)); }
  Operator& SetAttr(const char* name, bool v) {
    Kept k;
    k.i = v ? 1 : 0;
    return put(name, ATC_ATTR_BOOL, std::move(k));
  }
  Operator& SetAttr(const char* name, float v) {
    Kept k;
    k.f = v;
    return put(name, ATC_ATTR_FLOAT, std::move(k));
  }
  Operator& SetAttr(const char* name, const char* v) {
    Kept k;
    k.s = v;
    return put(name, ATC_ATTR_STRING, std::move(k));
  }
  Operator& SetAttr(const char* name, const std::string& v) { return SetAttr(name, v.c_str()); }
  Operator& SetAttr(const char* name, const AscendString& v) { return SetAttr(name, v.GetString()); }
  Operator& SetAttr(const char* name, const std::vector<std::int64_t>& v) {
    Kept k;
    k.ints = v;
    return put(name, ATC_ATTR_INTS, std::move(k));
  }
  Operator& SetAttr(const char* name, const std::vector<float>& v) {
    Kept k;
    k.floats = v;
    return put(name, ATC_ATTR_FLOATS, std::move(k));
  }
  template <class T>
  Operator& SetAttr(const std::string& name, const T& v) {
    return SetAttr(name.c_str(), v);
  }

  /// Copies all attributes of an ONNX node under their own names.
  void copy_attrs(const Operator& from) { attrs_ = from.attrs_; }
  void send(AtcCustomSetAttr set, void* to) const {
    for (const auto& [name, k] : attrs_) {
      const AtcCustomAttr raw = {
          name.c_str(),
          k.kind,
          static_cast<std::uint32_t>(k.kind == ATC_ATTR_FLOATS ? k.floats.size() : k.ints.size()),
          k.i,
          k.f,
          k.s.c_str(),
          k.ints.data(),
          k.floats.data()};
      set(to, &raw);
    }
  }

 private:
  struct Kept {
    std::uint32_t kind = ATC_ATTR_INT;
    std::int64_t i = 0;
    float f = 0;
    std::string s;
    std::vector<std::int64_t> ints;
    std::vector<float> floats;
  };
  static Kept keep(const AtcCustomAttr& a) {
    Kept k;
    k.kind = a.kind;
    k.i = a.i;
    k.f = a.f;
    k.s = a.s == nullptr ? "" : a.s;
    if (a.kind == ATC_ATTR_INTS) k.ints.assign(a.ints, a.ints + a.count);
    if (a.kind == ATC_ATTR_FLOATS) k.floats.assign(a.floats, a.floats + a.count);
    return k;
  }
  template <class F>
  graphStatus get(const char* name, std::uint32_t kind, const F& use) const {
    const auto at = attrs_.find(name);
    if (at == attrs_.end() || at->second.kind != kind) return GRAPH_FAILED;
    use(at->second);
    return GRAPH_SUCCESS;
  }
  Operator& put(const char* name, std::uint32_t kind, Kept k) {
    k.kind = kind;
    attrs_[name] = std::move(k);
    return *this;
  }
  /// Entries {name, type, i|f|s|ints|floats}, `type` as ONNX numbers attribute types.
  std::string json() const {
    std::ostringstream out;
    out << "{\"attribute\":[";
    const char* comma = "";
    for (const auto& [name, k] : attrs_) {
      out << comma << "{\"name\":\"" << name << "\",";
      comma = ",";
      switch (k.kind) {
        case ATC_ATTR_FLOAT:
          out << "\"f\":" << k.f << ",\"type\":1";
          break;
        case ATC_ATTR_STRING:
          out << "\"s\":\"" << k.s << "\",\"type\":3";
          break;
        case ATC_ATTR_FLOATS:
          list(out, "floats", k.floats);
          out << ",\"type\":6";
          break;
        case ATC_ATTR_INTS:
          list(out, "ints", k.ints);
          out << ",\"type\":7";
          break;
        default:
          out << "\"i\":" << k.i << ",\"type\":2";
      }
      out << "}";
    }
    out << "]}";
    return out.str();
  }
  template <class T>
  static void list(std::ostringstream& out, const char* key, const std::vector<T>& values) {
    out << "\"" << key << "\":[";
    for (std::size_t i = 0; i < values.size(); ++i) out << (i > 0 ? "," : "") << values[i];
    out << "]";
  }
  std::map<std::string, Kept> attrs_;
};

inline AscendString AscendStringOf(const char* text) { return AscendString(text); }

}  // namespace ge

namespace domi {

using Status = std::uint32_t;
inline constexpr Status SUCCESS = 0;
inline constexpr Status FAILED = 0xFFFFFFFF;
inline constexpr Status PARAM_INVALID = 50331649;

enum FrameworkType { CAFFE = 0, MINDSPORE = 1, TENSORFLOW = 3, ANDROID_NN, ONNX };
enum class ImplyType : unsigned int { BUILDIN = 0, TVM, CUSTOM, AI_CPU, CELL, AICPU, INVALID = 0xFFFFFFFF };

using ParseFunction = Status (*)(const ge::Operator&, ge::Operator&);

/// The attributes keep their names.
inline Status AutoMappingByOpFn(const ge::Operator& from, ge::Operator& to) {
  to.copy_attrs(from);
  return SUCCESS;
}

struct Plugin {
  std::vector<std::string> origins;
  ParseFunction parse = nullptr;
  bool onnx = false;
};
inline std::map<std::string, Plugin>& plugins() {
  static std::map<std::string, Plugin> all;
  return all;
}

class PluginEntry {
 public:
  explicit PluginEntry(const char* type) : plugin_(plugins()[type]) {}
  PluginEntry& FrameworkType(domi::FrameworkType framework) {
    plugin_.onnx = framework == ONNX;
    return *this;
  }
  PluginEntry& OriginOpType(const char* origin) {
    plugin_.origins.emplace_back(origin);
    return *this;
  }
  PluginEntry& OriginOpType(const std::string& origin) { return OriginOpType(origin.c_str()); }
  PluginEntry& OriginOpType(std::initializer_list<std::string> origins) {
    for (const std::string& o : origins) plugin_.origins.push_back(o);
    return *this;
  }
  PluginEntry& OriginOpType(const std::vector<ge::AscendString>& origins) {
    for (const ge::AscendString& o : origins) plugin_.origins.emplace_back(o.GetString());
    return *this;
  }
  PluginEntry& ParseParamsByOperatorFn(ParseFunction f) {
    plugin_.parse = f;
    return *this;
  }
  PluginEntry& ImplyType(domi::ImplyType) { return *this; }

 private:
  Plugin& plugin_;
};

}  // namespace domi

#define REGISTER_CUSTOM_OP(type) \
  static const domi::PluginEntry ATC_OPP_JOIN(plugin_entry_, __LINE__) = domi::PluginEntry(type)
