#include "passes/node_precision.h"

#include <array>
#include <charconv>

#include "atc/base/strings.h"
#include "atc/ir/graph.h"

namespace atc::passes {
namespace {

constexpr std::array<std::string_view, 4> kStorages = {"mode", "keep", "narrow", "follow"};

std::string types_text(const std::vector<DType>& types) {
  std::vector<std::string> numbers;
  for (const DType t : types) numbers.push_back(std::to_string(static_cast<int>(t)));
  return join(numbers, ",");
}

std::optional<std::vector<DType>> read_types(std::string_view text) {
  std::vector<DType> out;
  if (text.empty()) return out;
  for (const std::string& part : split(text, ',')) {
    int number = -1;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
    if (error != std::errc() || end != part.data() + part.size() || number < 0 || number >= kDTypeCount)
      return std::nullopt;
    out.push_back(static_cast<DType>(number));
  }
  return out;
}

// Names are the user's: a line's end in one must not end the line.
std::string escaped(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c == '\\')
      out += "\\\\";
    else if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out;
}

std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    ++i;
    out += text[i] == 'n' ? '\n' : text[i];
  }
  return out;
}

/// Cuts the text up to the next blank off.
std::string_view word(std::string_view& line) {
  const std::size_t end = std::min(line.find(' '), line.size());
  const std::string_view out = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return out;
}

}  // namespace

const NodePrecision* NodePrecisions::find(const ir::Node& node) const {
  if (nodes.empty()) return nullptr;
  for (const std::string& source : node.sources)
    if (const auto found = nodes.find(source); found != nodes.end()) return &found->second;
  return nullptr;
}

std::string NodePrecisions::to_text() const {
  std::string out;
  for (const auto& [name, p] : nodes)
    out += std::string(kStorages[static_cast<std::size_t>(p.storage)]) + " " + types_text(p.inputs) + " " +
           types_text(p.outputs) + " " + (p.fast ? "fast" : "") + " " + p.option + " " + escaped(name) + "\n";
  return out;
}

std::optional<NodePrecisions> NodePrecisions::from_text(std::string_view text) {
  NodePrecisions out;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    NodePrecision p;
    const std::string_view storage = word(line);
    std::size_t i = 0;
    while (i < kStorages.size() && kStorages[i] != storage) ++i;
    if (i == kStorages.size()) return std::nullopt;
    p.storage = static_cast<Storage>(i);
    const auto inputs = read_types(word(line)), outputs = read_types(word(line));
    const std::string_view fast = word(line);
    if (!inputs || !outputs || (fast != "fast" && !fast.empty())) return std::nullopt;
    p.inputs = *inputs;
    p.outputs = *outputs;
    p.fast = fast == "fast";
    p.option = word(line);
    out.nodes[unescaped(line)] = std::move(p);
  }
  return out;
}

}  // namespace atc::passes
