#include <algorithm>
#include <unordered_map>

#include "atc/base/check.h"
#include "atc/ir/text.h"
#include "atc/ir/verifier.h"
#include "text_format.h"
#include "text_literals.h"

namespace atc::ir {

/// Recursive descent over the grammar of AIR.md. A friend of Graph: it gives values the ids of the text.
class TextParser : private text::LiteralReader {
 public:
  explicit TextParser(std::string_view source) : LiteralReader(source) {}
  using LiteralReader::fault;

  std::unique_ptr<Graph> run() {
    std::int64_t version = 0;
    if (!expect_word(text::kMagic)) return nullptr;
    const std::size_t offset = lexer_.peek().offset;
    if (!read_int(version)) return nullptr;
    if (version != text::kVersion) {
      fail(offset, "version " + std::to_string(version) + " of the form is not known");
      return nullptr;
    }
    auto graph = std::make_unique<Graph>();
    if (!read_graph(*graph)) return nullptr;
    if (lexer_.peek().kind != text::TokenKind::End) {
      unexpected("the end of the text");
      return nullptr;
    }
    if (const std::string wrong = verify(*graph); !wrong.empty()) {
      fail(lexer_.peek().offset, wrong);
      return nullptr;
    }
    return graph;
  }

 private:
  struct Scope {
    Graph* graph = nullptr;
    std::unordered_map<int, Value*> values;
  };
  struct Reference {
    std::size_t up = 0;
    int id = 0;
    std::size_t offset = 0;
    bool absent = false;
  };
  struct Definition {
    int id = 0;
    std::string name;
    bool absent = false;
  };

  static constexpr std::int64_t kMaxId = std::int64_t{1} << 30;

  // graph "name"(%0 "x": f32[1], ...) -> (%4, ...) { statements }
  bool read_graph(Graph& graph) {
    const std::size_t offset = lexer_.peek().offset;
    if (scopes_.size() >= text::kMaxDepth) return fail(offset, "graphs are nested too deeply");
    scopes_.push_back({&graph, {}});
    const bool ok = read_graph_body(graph);
    scopes_.pop_back();
    return ok;
  }

  bool read_graph_body(Graph& graph) {
    if (!expect_word("graph") || !read_string(graph.name) || !expect("(")) return false;
    if (!accept(")")) {
      do {
        const std::size_t offset = lexer_.peek().offset;
        Definition d;
        TensorType type;
        if (!read_definition(d) || !expect(":") || !read_type(type)) return false;
        if (d.absent) return fail(offset, "an input needs an id");
        if (!define(d, offset, graph.add_input({}, std::move(type)))) return false;
      } while (accept(","));
      if (!expect(")")) return false;
    }
    std::vector<Reference> outputs;
    if (!expect("->") || !expect("(") || !read_references(outputs)) return false;
    if (!expect("{")) return false;
    while (!accept("}"))
      if (!read_statement(graph)) return false;
    for (const Reference& r : outputs) {
      Value* v = nullptr;
      if (r.absent) return fail(r.offset, "an output of a graph is missing");
      if (!resolve(r, v)) return false;
      graph.add_output(v);
    }
    // Ids tell the order of creation.
    std::sort(graph.values_.begin(), graph.values_.end(),
              [](const auto& a, const auto& b) { return a->id() < b->id(); });
    if (!graph.values_.empty()) graph.next_value_ = graph.values_.back()->id() + 1;
    return true;
  }

  // %5 "y", _, %6 = ...    or    () = ...
  bool read_statement(Graph& graph) {
    std::vector<Definition> outputs;
    const std::size_t offset = lexer_.peek().offset;
    if (accept("(")) {
      if (!expect(")")) return false;
    } else {
      do {
        if (!read_definition(outputs.emplace_back())) return false;
      } while (accept(","));
    }
    if (!expect("=")) return false;
    if (accept_word("const")) return read_constant(graph, outputs, offset);
    return read_node(graph, outputs, offset);
  }

  // const f32[2] {1.0,2.0} [: type]
  bool read_constant(Graph& graph, const std::vector<Definition>& outputs, std::size_t offset) {
    if (outputs.size() != 1 || outputs[0].absent) return fail(offset, "a constant is one value");
    Tensor tensor;
    if (!read_tensor(tensor)) return false;
    Value* v = graph.add_constant({}, std::move(tensor));
    if (accept(":")) {
      v->type = {};
      if (!read_type(v->type)) return false;
    }
    return define(outputs[0], offset, v);
  }

  // domain::Type@11(%0, _) {axis=1} : f32[1], _ name "Conv_0" from "Conv_0", "BN_1"
  bool read_node(Graph& graph, const std::vector<Definition>& outputs, std::size_t offset) {
    std::string domain;
    std::string op_type;
    std::int64_t version = 0;
    if (!read_name(op_type)) return false;
    if (accept("::")) {
      domain = std::move(op_type);
      if (!read_name(op_type)) return false;
    }
    if (accept("@")) {
      const std::size_t at = lexer_.peek().offset;
      if (!read_int(version)) return false;
      if (version < INT32_MIN || version > INT32_MAX) return fail(at, "no such version");
    }
    std::vector<Reference> references;
    if (!expect("(") || !read_references(references)) return false;
    std::vector<Value*> inputs(references.size(), nullptr);
    for (std::size_t i = 0; i < references.size(); ++i)
      if (!references[i].absent && !resolve(references[i], inputs[i])) return false;
    Node* node = graph.add_node(std::move(op_type), std::move(inputs), 0, nullptr, std::move(domain),
                                static_cast<int>(version));
    if (accept("{") && !read_attributes(graph, *node)) return false;
    if (!read_outputs(graph, *node, outputs, offset)) return false;
    if (accept_word("name") && !read_string(node->name)) return false;
    if (accept_word("from")) {
      do {
        if (!read_string(node->sources.emplace_back())) return false;
      } while (accept(","));
    }
    return true;
  }

  bool read_outputs(Graph& graph, Node& node, const std::vector<Definition>& outputs, std::size_t offset) {
    if (outputs.empty()) return true;
    if (!expect(":")) return false;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (i != 0 && !expect(",")) return false;
      if (outputs[i].absent) {
        if (!expect_word("_")) return false;
        node.outputs_.push_back(nullptr);
        continue;
      }
      Value* v = graph.add_output_value(&node, {});
      if (!read_type(v->type) || !define(outputs[i], offset, v)) return false;
    }
    return true;
  }

  bool read_attributes(Graph& graph, Node& node) {
    do {
      const std::size_t offset = lexer_.peek().offset;
      std::string key;
      Attribute value;
      if (!read_name(key) || !expect("=") || !read_attribute(graph, value)) return false;
      if (node.attrs.has(key)) return fail(offset, "attribute " + text::quoted(key) + " is given twice");
      node.attrs.set(std::move(key), std::move(value));
    } while (accept(","));
    return expect("}");
  }

  bool read_attribute(Graph& graph, Attribute& out) {
    if (at_word("graph")) {
      auto body = std::make_shared<Graph>(std::string(), &graph);
      if (!read_graph(*body)) return false;
      out = std::move(body);
      return true;
    }
    if (accept_word("tensor")) return read_tensor(out.emplace<Tensor>());
    if (lexer_.peek().kind == text::TokenKind::String) return read_string(out.emplace<std::string>());
    if (accept_word("ints")) return read_list(out.emplace<std::vector<std::int64_t>>());
    if (accept_word("floats")) return read_list(out.emplace<std::vector<float>>());
    if (accept_word("strings")) return read_list(out.emplace<std::vector<std::string>>());
    if (accept_word("tensors")) return read_list(out.emplace<std::vector<Tensor>>());
    if (at_float()) return read_float(out.emplace<float>());
    if (!accept("[")) return read_int(out.emplace<std::int64_t>());
    if (at_word("tensor")) return read_items(out.emplace<std::vector<Tensor>>());
    if (lexer_.peek().kind == text::TokenKind::String)
      return read_items(out.emplace<std::vector<std::string>>());
    if (at_float()) return read_items(out.emplace<std::vector<float>>());
    return read_items(out.emplace<std::vector<std::int64_t>>());
  }

  bool read_item(std::int64_t& out) { return read_int(out); }
  bool read_item(float& out) { return read_float(out); }
  bool read_item(std::string& out) { return read_string(out); }
  bool read_item(Tensor& out) { return expect_word("tensor") && read_tensor(out); }

  template <class T>
  bool read_list(std::vector<T>& out) {
    if (!expect("[")) return false;
    return accept("]") || read_items(out);
  }

  template <class T>
  bool read_items(std::vector<T>& out) {
    do {
      if (!read_item(out.emplace_back())) return false;
    } while (accept(","));
    return expect("]");
  }

  bool read_id(int& out) {
    const std::size_t offset = lexer_.peek().offset;
    std::int64_t id = 0;
    if (!read_int(id)) return false;
    if (id < 0 || id >= kMaxId) return fail(offset, "no such value id");
    out = static_cast<int>(id);
    return true;
  }

  bool read_definition(Definition& out) {
    if (accept_word("_")) {
      out.absent = true;
      return true;
    }
    if (!expect("%") || !read_id(out.id)) return false;
    return lexer_.peek().kind != text::TokenKind::String || read_string(out.name);
  }

  bool define(const Definition& d, std::size_t offset, Value* v) {
    if (!scopes_.back().values.emplace(d.id, v).second)
      return fail(offset, "%" + std::to_string(d.id) + " is defined twice");
    v->id_ = d.id;
    v->name_ = d.name;
    return true;
  }

  /// The rest of a list whose "(" was taken.
  bool read_references(std::vector<Reference>& out) {
    if (accept(")")) return true;
    do {
      Reference r;
      r.offset = lexer_.peek().offset;
      if (accept_word("_")) {
        r.absent = true;
      } else {
        while (accept("^")) ++r.up;
        if (!expect("%") || !read_id(r.id)) return false;
      }
      out.push_back(r);
    } while (accept(","));
    return expect(")");
  }

  bool resolve(const Reference& r, Value*& out) {
    if (r.up >= scopes_.size()) return fail(r.offset, "there is no such enclosing graph");
    const auto& values = scopes_[scopes_.size() - 1 - r.up].values;
    const auto it = values.find(r.id);
    if (it == values.end())
      return fail(r.offset, "%" + std::to_string(r.id) + " is not defined before its use");
    out = it->second;
    return true;
  }

  std::vector<Scope> scopes_;
};

StatusOr<std::unique_ptr<Graph>> parse(std::string_view text) {
  TextParser parser(text);
  std::unique_ptr<Graph> graph = parser.run();
  if (graph == nullptr) return Status::error("E13005", "cannot parse the graph's text: " + parser.fault());
  return graph;
}

}  // namespace atc::ir
