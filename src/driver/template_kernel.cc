#include "driver/template_kernel.h"

#include <algorithm>
#include <cctype>

namespace atc::driver {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

/// Comments are blanks.
std::string without_comments(std::string_view source) {
  std::string out;
  for (std::size_t i = 0; i < source.size();) {
    if (source.substr(i, 2) == "//") {
      i = std::min(source.find('\n', i), source.size());
    } else if (source.substr(i, 2) == "/*") {
      const std::size_t end = source.find("*/", i + 2);
      i = end == std::string_view::npos ? source.size() : end + 2;
      out += ' ';
    } else {
      out += source[i++];
    }
  }
  return out;
}

std::string trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return std::string(text);
}

/// The list between the angle brackets of `template <...>` before the declarator at `name`; null text when
/// there is none. Between them are words, and attributes in brackets.
std::string_view list_before(std::string_view text, std::size_t name) {
  std::size_t at = name;
  int depth = 0;
  for (; at > 0; --at) {
    const char c = text[at - 1];
    if (c == ')' || c == ']') ++depth;
    if (c == '(' || c == '[') --depth;
    if (depth == 0 && !is_word(c) && !is_space(c) && c != '(' && c != '[' && c != '*') break;
  }
  if (at == 0 || text[at - 1] != '>') return {};
  const std::size_t end = at - 1;
  depth = 1;
  for (at = end; at > 0 && depth > 0; --at) depth += text[at - 1] == '>' ? 1 : text[at - 1] == '<' ? -1 : 0;
  const std::string before = trimmed(text.substr(0, at));
  if (depth != 0 || !std::string_view(before).ends_with("template")) return {};
  return text.substr(at + 1, end - at - 1);
}

std::vector<std::string> at_commas(std::string_view list) {
  std::vector<std::string> out;
  std::string one;
  int depth = 0;
  for (const char c : list) {
    depth += c == '<' || c == '(' || c == '{' ? 1 : c == '>' || c == ')' || c == '}' ? -1 : 0;
    if (c == ',' && depth == 0) {
      out.push_back(trimmed(one));
      one.clear();
    } else {
      one += c;
    }
  }
  out.push_back(trimmed(one));
  return out;
}

StatusOr<TemplateParam> param_of(const std::string& text, const std::string& function) {
  const std::string written = trimmed(std::string_view(text).substr(0, text.find('=')));
  const std::string first =
      written.substr(0, std::find_if_not(written.begin(), written.end(), is_word) - written.begin());
  const bool macro = std::all_of(written.begin(), written.end(), [](char c) {
    return std::isupper(static_cast<unsigned char>(c)) != 0 ||
           std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '_';
  });
  if (written.empty() || macro || first == "template" || written.find("...") != std::string::npos)
    return Status::error("E40021", "Template parameter '" + text + "' of kernel " + function +
                                       " cannot be read from its source")
        .solution("Write each parameter as a type name (typename T) or as a value (int N).");
  if (first == "typename" || first == "class") return TemplateParam{true, ""};
  std::size_t end = written.size();
  while (end > 0 && is_word(written[end - 1])) --end;
  const std::string type = trimmed(written.substr(0, end));
  return TemplateParam{false, type.empty() ? written : type};
}

std::string numbers(const std::vector<int>& list) {
  std::string out;
  for (const int n : list) out += (out.empty() ? "" : ", ") + std::to_string(n);
  return out.empty() ? "0" : out;
}

}  // namespace

StatusOr<std::vector<TemplateParam>> template_params(std::string_view source, const std::string& function) {
  const std::string text = without_comments(source);
  std::vector<TemplateParam> out;
  for (std::size_t at = text.find(function); at != std::string::npos; at = text.find(function, at + 1)) {
    std::size_t behind = at + function.size();
    while (behind < text.size() && is_space(text[behind])) ++behind;
    const bool named = at > 0 && is_space(text[at - 1]) && behind < text.size() && text[behind] == '(';
    const std::string_view list = named ? list_before(text, at) : std::string_view();
    if (list.data() == nullptr) continue;
    for (const std::string& one : at_commas(list)) {
      ATC_ASSIGN(TemplateParam param, param_of(one, function));
      out.push_back(std::move(param));
    }
    return out;
  }
  return out;
}

std::string template_unit(const std::vector<TemplateParam>& params, const std::vector<int>& inputs,
                          const std::vector<int>& outputs, const std::string& function,
                          const std::string& symbol) {
  std::string arguments;
  for (std::size_t i = 0; i < params.size(); ++i) {
    const std::string at = "<" + std::to_string(i) + ">";
    arguments += i == 0 ? "" : ", ";
    if (params[i].is_type)
      arguments += "typename Choice::template type" + at;
    else if (params[i].type == "auto")
      arguments += "Choice::template value" + at;
    else
      arguments += "static_cast<" + params[i].type + ">(Choice::template value" + at + ")";
  }
  return "#include \"ascendc/template_entry.h\"\nnamespace {\nstruct AtcTemplateKeys {\n"
         "  static constexpr const auto& declared() { return g_tilingDeclareParams; }\n"
         "  static constexpr const auto& selected() { return g_tilingSelectParams; }\n"
         "  static constexpr std::uint64_t inputs[] = {" +
         numbers(inputs) + "}, outputs[] = {" + numbers(outputs) +
         "};\n  static constexpr std::size_t input_count = " + std::to_string(inputs.size()) +
         ", output_count = " + std::to_string(outputs.size()) +
         ";\n};\ntemplate <class Choice>\nstruct AtcTemplateInstance {\n  static constexpr auto kernel() {\n"
         "    return &" +
         function + "<" + arguments +
         ">;\n  }\n};\n}  // namespace\nextern \"C\" __attribute__((visibility(\"default\"))) void " +
         symbol +
         "(AtcBlock* block, const AtcCoreApi* api, void* const* args) {\n"
         "  ::AscendC::detail::template_entry<AtcTemplateKeys, AtcTemplateInstance>(block, api, args);\n}\n";
}

}  // namespace atc::driver
