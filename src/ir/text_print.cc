#include <cstring>

#include "atc/base/check.h"
#include "atc/base/hash.h"
#include "atc/ir/text.h"
#include "text_elements.h"
#include "text_format.h"

namespace atc::ir {
namespace {

class Printer {
 public:
  explicit Printer(const PrintOptions& options) : options_(options) {}

  std::string run(const Graph& graph) {
    out_ = std::string(text::kMagic) + " " + std::to_string(text::kVersion) + "\n";
    print_graph(graph, 0);
    out_ += "\n";
    return std::move(out_);
  }

 private:
  void indent(int depth) { out_.append(static_cast<std::size_t>(depth) * 2, ' '); }

  /// "%3"; one "^" for each graph between the user and the owner.
  std::string reference(const Graph& user, const Value* v) const {
    if (v == nullptr) return "_";
    std::string up;
    const Graph* g = &user;
    while (g != nullptr && g != v->graph()) {
      up += '^';
      g = g->parent();
    }
    ATC_CHECK(g != nullptr, "print: a node uses a value of a foreign graph");
    return up + "%" + std::to_string(v->id());
  }

  static std::string definition(const Value* v) {
    if (v == nullptr) return "_";
    std::string out = "%" + std::to_string(v->id());
    if (!v->name().empty()) out += " " + text::quoted(v->name());
    return out;
  }

  void print_graph(const Graph& graph, int depth) {
    out_ += "graph " + text::quoted(graph.name) + "(";
    for (std::size_t i = 0; i < graph.inputs().size(); ++i) {
      const Value* v = graph.inputs()[i];
      out_ += (i == 0 ? "" : ", ") + definition(v) + ": " + text::type(v->type);
    }
    out_ += ") -> (";
    for (std::size_t i = 0; i < graph.outputs().size(); ++i)
      out_ += (i == 0 ? "" : ", ") + reference(graph, graph.outputs()[i]);
    out_ += ") {\n";
    for (const Value* v : graph.values())
      if (v->is_constant()) print_constant(*v, depth + 1);
    for (const auto& node : graph.nodes()) print_node(graph, *node, depth + 1);
    indent(depth);
    out_ += "}";
  }

  void print_constant(const Value& v, int depth) {
    indent(depth);
    out_ += definition(&v) + " = const ";
    print_tensor(v.constant());
    if (v.type != tensor_type(v.constant().dtype, v.constant().shape)) out_ += " : " + text::type(v.type);
    out_ += "\n";
  }

  void print_node(const Graph& graph, const Node& node, int depth) {
    indent(depth);
    if (node.outputs().empty()) out_ += "()";
    for (std::size_t i = 0; i < node.outputs().size(); ++i)
      out_ += (i == 0 ? "" : ", ") + definition(node.outputs()[i]);
    out_ += " = ";
    // The bare word const begins a constant.
    const auto word = [](const std::string& s) { return s == "const" ? text::quoted(s) : text::word(s); };
    if (!node.domain.empty()) out_ += word(node.domain) + "::";
    out_ += word(node.op_type);
    if (node.version != 0) out_ += "@" + std::to_string(node.version);
    out_ += "(";
    for (std::size_t i = 0; i < node.inputs().size(); ++i)
      out_ += (i == 0 ? "" : ", ") + reference(graph, node.inputs()[i]);
    out_ += ")";
    if (!node.attrs.map().empty()) {
      out_ += " {";
      bool first = true;
      for (const auto& [key, attr] : node.attrs.map()) {
        if (!first) out_ += ", ";
        first = false;
        out_ += text::word(key) + "=";
        std::visit([&](const auto& value) { print_attribute(value, depth); }, attr);
      }
      out_ += "}";
    }
    if (!node.outputs().empty()) out_ += " :";
    for (std::size_t i = 0; i < node.outputs().size(); ++i) {
      const Value* v = node.outputs()[i];
      out_ += (i == 0 ? " " : ", ") + (v == nullptr ? "_" : text::type(v->type));
    }
    if (!node.name.empty()) out_ += " name " + text::quoted(node.name);
    for (std::size_t i = 0; i < node.sources.size(); ++i)
      out_ += (i == 0 ? " from " : ", ") + text::quoted(node.sources[i]);
    out_ += "\n";
  }

  void print_attribute(std::int64_t v, int) { out_ += std::to_string(v); }
  void print_attribute(float v, int) { out_ += text::number(v); }
  void print_attribute(const std::string& v, int) { out_ += text::quoted(v); }
  void print_attribute(const Tensor& v, int) {
    out_ += "tensor ";
    print_tensor(v);
  }
  void print_attribute(const std::shared_ptr<Graph>& v, int depth) {
    ATC_CHECK(v != nullptr, "print: missing graph attribute");
    print_graph(*v, depth);
  }
  template <class T>
  void print_attribute(const std::vector<T>& list, int depth) {
    // The kind of a list shows in its first element; an empty one has to name it.
    if (list.empty()) {
      if constexpr (std::is_same_v<T, std::int64_t>) out_ += "ints ";
      if constexpr (std::is_same_v<T, float>) out_ += "floats ";
      if constexpr (std::is_same_v<T, std::string>) out_ += "strings ";
      if constexpr (std::is_same_v<T, Tensor>) out_ += "tensors ";
    }
    out_ += "[";
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (i != 0) out_ += ",";
      print_attribute(list[i], depth);
    }
    out_ += "]";
  }

  void print_tensor(const Tensor& t) {
    const std::int64_t checked = t.count();
    ATC_CHECK(checked >= 0, "print: tensor of impossible shape");
    const auto count = static_cast<std::size_t>(checked);
    out_ += text::type(tensor_type(t.dtype, t.shape));
    out_ += ' ';
    if (options_.max_constant_elements >= 0 && checked > options_.max_constant_elements) {
      print_hash(t);
      return;
    }
    const bool strings = t.dtype == DType::String;
    ATC_CHECK(strings ? t.strings.size() == count : t.data.size() == t.byte_size(),
              "print: tensor data does not have the size of its shape");
    const bool empty = t.dtype == DType::Undefined || count == 0;
    if (!empty && count > 1 && is_splat(t, count)) {
      const std::size_t bytes = text::splat_bytes(t.dtype, count, strings ? t.strings[0].size() : 0);
      if (bytes <= text::kMaxSplatBytes - splat_bytes_) {
        splat_bytes_ += bytes;
        out_ += "splat " + element(t, 0);
        return;
      }
    }
    out_ += "{";
    for (std::size_t i = 0; i < count && !empty; ++i) {
      if (i != 0) out_ += ",";
      out_ += element(t, i);
    }
    out_ += "}";
  }

  static std::string element(const Tensor& t, std::size_t i) {
    if (t.dtype == DType::String) return text::quoted(t.strings[i]);
    return text::element_text(t.dtype, text::element_bits(t, i));
  }

  static bool is_splat(const Tensor& t, std::size_t count) {
    if (const auto width = static_cast<std::size_t>(bit_width(t.dtype)); width >= 8) {
      const std::size_t step = width / 8;
      return std::memcmp(t.data.data(), t.data.data() + step, (count - 1) * step) == 0;
    }
    for (std::size_t i = 1; i < count; ++i) {
      const bool same = t.dtype == DType::String ? t.strings[i] == t.strings[0]
                                                 : text::element_bits(t, i) == text::element_bits(t, 0);
      if (!same) return false;
    }
    return true;
  }

  void print_hash(const Tensor& t) {
    std::uint64_t h = hash64(t.data.span());
    for (const std::string& s : t.strings) h = hash64(std::string_view(s), h);
    constexpr std::string_view kHex = "0123456789abcdef";
    out_ += "hash 0x";
    for (int shift = 60; shift >= 0; shift -= 4) out_ += kHex[(h >> shift) & 15];
  }

  const PrintOptions& options_;
  std::string out_;
  std::size_t splat_bytes_ = 0;
};

}  // namespace

std::string print(const Graph& graph, const PrintOptions& options) { return Printer(options).run(graph); }

}  // namespace atc::ir
