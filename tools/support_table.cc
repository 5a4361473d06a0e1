// Writes ops/SUPPORT.md: what the registry says of each ONNX operator.
//   support_table REPOSITORY           prints the table
//   support_table REPOSITORY --check   compares it with ops/SUPPORT.md
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "atc/base/strings.h"
#include "ops/op.h"
#include "passes/attention_lowering.h"
#include "passes/cube_form.h"
#include "passes/decompose.h"
#include "passes/integer_form.h"
#include "passes/quantize_expand.h"

namespace {

namespace fs = std::filesystem;
using atc::ops::OpDef;

constexpr std::array kNotes = {
#define ATC_SUPPORT_NOTE(op, text) std::pair<std::string_view, std::string_view>{#op, text},
#include "ops/support_notes.def"
#undef ATC_SUPPORT_NOTE
};

std::string_view note_of(std::string_view op) {
  const auto at = std::ranges::find(kNotes, op, [](const auto& n) { return n.first; });
  return at == kNotes.end() ? std::string_view() : at->second;
}

/// All definitions of one operator, the oldest first.
using Versions = std::vector<const OpDef*>;

std::string versions_text(const Versions& versions) {
  std::vector<std::string> parts;
  for (const OpDef* d : versions)
    parts.push_back(std::to_string(d->since) + (d->until == INT_MAX    ? "+"
                                                : d->until == d->since ? ""
                                                                       : "-" + std::to_string(d->until)));
  return atc::join(parts, ", ");
}

/// Does inference take input 0 of this dtype, nothing else being known? A refusal for another reason is no
/// answer, and counts as yes.
bool takes(const OpDef& def, atc::DType dtype) {
  atc::ir::Graph graph("probe");
  std::vector<atc::ir::Value*> inputs;
  for (int i = 0; i < std::max(def.inputs.min, 1); ++i)
    inputs.push_back(
        graph.add_input("x" + std::to_string(i), {i == 0 ? dtype : atc::DType::Undefined, {}, {}}));
  const int outputs = std::max(def.outputs.min, 1);
  atc::ir::Node* node =
      graph.add_node(std::string(def.name), inputs, outputs, nullptr, std::string(def.domain),
                     def.until == INT_MAX ? std::max(def.since, 28) : def.until);
  atc::ops::InferContext context(*node);
  context.next_symbol = [] { return std::string("?"); };
  context.lookup_dims = [](const atc::ir::Value*) { return std::nullopt; };
  const atc::Status status = def.infer(context);
  return status.ok() || status.to_string().find("must be of ") == std::string::npos;
}

bool nests(const OpDef& def) {
  return std::ranges::any_of(def.attrs, [](const auto& a) { return a.kind == atc::ops::AttrKind::Graph; });
}

std::string dtypes_text(const OpDef& def) {
  if (def.inputs.max == 0) return "";
  // Of nested graphs there is none to infer.
  if (nests(def)) return "any";
  std::vector<std::string> parts;
  int all = 0;
  for (int i = 1; i < atc::kDTypeCount; ++i) {
    const auto dtype = static_cast<atc::DType>(i);
    ++all;
    if (takes(def, dtype)) parts.emplace_back(atc::name(dtype));
  }
  return std::ssize(parts) == all ? "any" : atc::join(parts, " ");
}

bool contains(const auto& list, std::string_view name) { return std::ranges::find(list, name) != list.end(); }

// What is known when shapes are.
constexpr std::array<std::string_view, 4> kFolded = {"Constant", "ConstantOfShape", "Shape", "Size"};

std::string engine_text(const Versions& versions) {
  const OpDef& newest = *versions.back();
  const std::string_view note = note_of(newest.name);
  std::string how;
  if (newest.vector != nullptr)
    how = "AI Core, vector program";
  else if (contains(atc::passes::cube_form_operators(), newest.name))
    how = "AI Core, cube or window";
  else if (newest.lower != nullptr || contains(atc::passes::lowered_attentions(), newest.name))
    how = "AI Core";
  else if (contains(atc::passes::decomposed_operators(), newest.name))
    how = "AI Core, written in other operators";
  else if (contains(atc::passes::quantize_expanded_operators(), newest.name))
    how = "AI Core, written in other operators: constant parameters";
  else if (contains(atc::passes::integer_form_operators(), newest.name))
    how = "AI Core, int8 cube: constant parameters";
  else if (nests(newest))
    how = "runtime; nested graphs as any other, on the AI Core";
  else if (contains(kFolded, newest.name))
    how = "compiler: folded";
  else
    return "AI CPU";
  return how + (note.empty() ? "" : ": " + std::string(note));
}

std::string read_file(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Sources of the tests of operators, passes and compiled models by their name below tests/, in order.
std::map<std::string, std::string> test_sources(const fs::path& root) {
  std::map<std::string, std::string> out;
  for (const char* folder : {"ops", "passes", "runtime"})
    for (const auto& entry : fs::directory_iterator(root / "tests" / folder))
      if (entry.path().extension() == ".cc")
        out[folder + ("/" + entry.path().filename().string())] = read_file(entry.path());
  return out;
}

/// The sources that make a node of the operator: by its quoted name, or in .air text.
std::string tests_text(std::string_view op, const std::map<std::string, std::string>& sources) {
  const std::string quoted = "\"" + std::string(op) + "\"", air = " = " + std::string(op);
  std::vector<std::string> parts;
  for (const auto& [name, text] : sources) {
    const bool in_air =
        text.find(air + "@") != std::string::npos || text.find(air + "(") != std::string::npos;
    if (in_air || text.find(quoted) != std::string::npos) parts.push_back(name.substr(0, name.size() - 3));
  }
  return atc::join(parts, ", ");
}

constexpr std::string_view kHead =
    R"(# Operators

Written by `support_table`; `ctest -R support_table` holds it against the registry. To renew it:
`build/bin/support_table . > ops/SUPPORT.md`.

- **Versions**: opset versions of each definition. **Types**: of input 0, as inference takes them.
- **AI Core**: with static shapes. Vector programs take f32, f16, bf16, bool and integers up to 64 bits but u64;
  other types of such operators run on the AI CPU, as do operators without a form for the AI Core.
- **Tests**: files of `tests/ops`, `tests/passes` and `tests/runtime` that build the operator. ONNX's own node tests run in `tests/conformance` besides.

| operator | versions | types | runs on | tests |
| --- | --- | --- | --- | --- |
)";

std::map<std::string_view, Versions> onnx_operators() {
  std::map<std::string_view, Versions> out;
  for (const OpDef* d : atc::ops::Registry::instance().all())
    if (d->domain.empty()) out[d->name].push_back(d);
  for (auto& [name, versions] : out) std::ranges::sort(versions, {}, &OpDef::since);
  return out;
}

/// What is wrong with the notes, "" when nothing: each names an operator, sorted, and those that lower some
/// nodes only have one.
std::string notes_fault(const std::map<std::string_view, Versions>& operators) {
  if (!std::ranges::is_sorted(kNotes)) return "ops/support_notes.def is not sorted";
  for (const auto& [op, text] : kNotes)
    if (!operators.contains(op))
      return "ops/support_notes.def names " + std::string(op) + ", which is no operator";
  for (const auto& [op, versions] : operators)
    if (versions.back()->lowers != nullptr && note_of(op).empty())
      return std::string(op) + " lowers some nodes only, but ops/support_notes.def does not say which";
  return "";
}

}  // namespace

int main(int argc, char** argv) {
  const bool check = argc == 3 && std::string_view(argv[2]) == "--check";
  if (argc < 2 || (argc == 3 && !check) || argc > 3) {
    std::cerr << "usage: support_table REPOSITORY [--check]\n";
    return 2;
  }
  const fs::path root = argv[1];
  const auto operators = onnx_operators();
  if (const std::string fault = notes_fault(operators); !fault.empty()) {
    std::cerr << fault << "\n";
    return 1;
  }
  const auto sources = test_sources(root);
  std::ostringstream table;
  table << kHead;
  for (const auto& [name, versions] : operators)
    table << "| " << name << " | " << versions_text(versions) << " | " << dtypes_text(*versions.back())
          << " | " << engine_text(versions) << " | " << tests_text(name, sources) << " |\n";
  if (!check) {
    std::cout << table.str();
    return 0;
  }
  if (read_file(root / "ops/SUPPORT.md") == table.str()) return 0;
  std::cerr << "ops/SUPPORT.md is not what the registry says; write it anew:\n"
               "  build/bin/support_table . > ops/SUPPORT.md\n";
  return 1;
}
