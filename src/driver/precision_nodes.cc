#include "driver/precision_nodes.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "atc/base/strings.h"
#include "om/op_names.h"

namespace atc::driver {
namespace {

using ir::Node;
using passes::NodePrecision;
using passes::Storage;

constexpr std::size_t kShownNames = 8;

// Without what ATC appends to a type: "MatMulV2" and "ReduceMeanD" mean MatMul and ReduceMean.
std::string_view without_version(std::string_view type) {
  std::size_t end = type.size();
  while (end > 0 && type[end - 1] >= '0' && type[end - 1] <= '9') --end;
  if (end < type.size() && end > 1 && type[end - 1] == 'V') type = type.substr(0, end - 1);
  if (type.size() > 1 && type.back() == 'D' && type[type.size() - 2] >= 'a' && type[type.size() - 2] <= 'z')
    type.remove_suffix(1);
  return type;
}

// ATC's types for what om::atc_op_type names otherwise, or by shapes that are not known yet.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kMoreTypes = {
    {{"Gemm", "BatchMatMul"},
     {"MatMul", "BatchMatMul"},
     {"MatMul", "MatMul"},
     {"Conv", "Conv3D"},
     {"Conv", "DepthwiseConv2D"},
     {"GridSample", "GridSampler2D"},
     {"GridSample", "GridSampler3D"},
     {"Mul", "Muls"}}};

bool is_of_type(const Node& n, std::string_view type) {
  if (n.op_type == type || om::atc_op_type(n) == type) return true;
  const std::string_view plain = without_version(type);
  if (n.op_type == plain || without_version(om::atc_op_type(n)) == plain) return true;
  return std::any_of(kMoreTypes.begin(), kMoreTypes.end(),
                     [&](const auto& more) { return n.op_type == more.first && plain == more.second; });
}

/// What an entry names.
struct Targets {
  std::vector<const Node*> single;        // nodes that it names themselves
  std::vector<const WrittenForm*> forms;  // what it names all nodes of

  std::vector<const Node*> nodes() const {
    std::vector<const Node*> out = single;
    for (const WrittenForm* form : forms) out.insert(out.end(), form->nodes.begin(), form->nodes.end());
    return out;
  }
};

class Resolver {
 public:
  Resolver(const ir::Graph& graph, std::vector<WrittenForm> forms, const CustomizedTypes& types)
      : forms_(std::move(forms)), types_(types), nodes_(all_nodes(graph)) {
    for (const Node* n : nodes_)
      if (n->is("Gelu")) fast_nodes_.insert(n);
    for (const WrittenForm& form : forms_)
      if (form.type == "Gelu" && form.fuses) fast_nodes_.insert(form.nodes.begin(), form.nodes.end());
  }

  Status apply(const PrecisionEntry& entry) {
    const Targets named = entry.by_type ? of_type(entry.name) : of_name(entry.name);
    ATC_TRY(types_.check(entry, named.single, named.forms));
    const std::vector<const Node*> targets = named.nodes();
    if (targets.empty() && entry.named)
      unknown_[entry.asked.option].push_back((entry.by_type ? "OpType::" : "") + printable(entry.name));
    const bool has_fast_form =
        std::any_of(targets.begin(), targets.end(), [&](const Node* n) { return fast_nodes_.contains(n); });
    const bool says_nothing = entry.mode == "support_out_of_bound_index" || entry.mode == "norm_class";
    if (!targets.empty() && (says_nothing || (entry.asked.fast && !has_fast_form)))
      without_effect_[entry.asked.option + ": " + entry.mode].insert(printable(entry.name));
    for (const Node* n : targets)
      for (const std::string& source : n->sources) merge(entry, out_.nodes[source]);
    return {};
  }

  passes::NodePrecisions finish(std::vector<Diagnostic>& warnings) {
    for (const auto& [option, names] : unknown_)
      warn(warnings, "W11002", option + ": not in the model: " + shown(names) + ".");
    for (const auto& [mode, names] : without_effect_)
      warn(warnings, "W11003",
           mode + " has no effect on " + shown({names.begin(), names.end()}) +
               ": there is one implementation, the precise one.");
    // What asks for nothing after all.
    std::erase_if(out_.nodes, [](const auto& node) {
      NodePrecision p = node.second;
      p.option.clear();
      return p == NodePrecision();
    });
    return std::move(out_);
  }

 private:
  Targets of_type(const std::string& type) const {
    Targets out;
    for (const Node* n : nodes_)
      if (is_of_type(*n, type)) out.single.push_back(n);
    const std::string_view plain = without_version(type);
    for (const WrittenForm& form : forms_)
      if (form.type == type || form.type == plain) out.forms.push_back(&form);
    return out;
  }

  Targets of_name(const std::string& name) const {
    Targets out;
    const auto is_named = [](const Node* n, std::string_view wanted) {
      return n->name == wanted || (!n->sources.empty() && n->sources.front() == wanted);
    };
    for (const Node* n : nodes_)
      if (is_named(n, name)) out.single.push_back(n);
    const std::size_t slash = name.rfind('/');
    if (!out.single.empty() || slash == std::string::npos) return out;
    const std::string_view base = std::string_view(name).substr(0, slash);
    const std::string_view type = std::string_view(name).substr(slash + 1);
    for (const WrittenForm& form : forms_)
      if ((form.type == type || form.type == without_version(type)) &&
          std::any_of(form.nodes.begin(), form.nodes.end(), [&](const Node* n) { return is_named(n, base); }))
        out.forms.push_back(&form);
    // An operator of the model that keeps its type: "Gelu_7/Gelu".
    for (const Node* n : nodes_)
      if (is_named(n, base) && is_of_type(*n, type)) out.single.push_back(n);
    return out;
  }

  // Types other than floating ones are the model's own: they ask for nothing.
  static std::vector<DType> floats_of(std::vector<DType> types) {
    for (DType& t : types)
      if (!is_float(t)) t = DType::Undefined;
    return types;
  }

  static void merge(const PrecisionEntry& entry, NodePrecision& to) {
    const NodePrecision& from = entry.asked;
    if (from.storage != Storage::Mode) to.storage = from.storage;
    if (!from.inputs.empty()) to.inputs = floats_of(from.inputs);
    if (!from.outputs.empty()) to.outputs = floats_of(from.outputs);
    if (!entry.mode.empty()) to.fast = from.fast;
    to.option = from.option;
  }

  static void warn(std::vector<Diagnostic>& warnings, std::string code, std::string message) {
    Diagnostic& warning = warnings.emplace_back();
    warning.code = std::move(code);
    warning.message = std::move(message);
  }

  static std::string shown(std::vector<std::string> names) {
    const std::size_t count = names.size();
    names.resize(std::min(count, kShownNames));
    return join(names, ", ") +
           (count > kShownNames ? " and " + std::to_string(count - kShownNames) + " more" : "");
  }

  std::vector<WrittenForm> forms_;
  const CustomizedTypes& types_;
  std::vector<const Node*> nodes_;
  std::set<const Node*> fast_nodes_;  // that have a faster form
  passes::NodePrecisions out_;
  std::map<std::string, std::vector<std::string>> unknown_;
  std::map<std::string, std::set<std::string>> without_effect_;
};

}  // namespace

StatusOr<passes::NodePrecisions> resolve_precisions(const ir::Graph& graph,
                                                    const std::vector<PrecisionEntry>& entries,
                                                    std::vector<WrittenForm> forms,
                                                    const CustomizedTypes& types,
                                                    std::vector<Diagnostic>& warnings) {
  if (entries.empty()) return passes::NodePrecisions();
  Resolver resolver(graph, std::move(forms), types);
  for (const PrecisionEntry& entry : entries) ATC_TRY(resolver.apply(entry));
  return resolver.finish(warnings);
}

}  // namespace atc::driver
