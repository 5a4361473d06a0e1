#include "driver/opp_registered.h"

#include <algorithm>
#include <array>
#include <sstream>

#include "atc/core_api.h"

namespace atc::driver {
namespace {

Status unreadable(const std::string& line) {
  return Status::error("E40021", "What op_host registers cannot be read: '" + line + "'");
}

struct TypeName {
  int number;
  const char* cpp;
  const char* dt;
};
constexpr std::array kTypes = {
    TypeName{0, "float", "DT_FLOAT"},      TypeName{1, "half", "DT_FLOAT16"},
    TypeName{2, "int8_t", "DT_INT8"},      TypeName{3, "int32_t", "DT_INT32"},
    TypeName{4, "uint8_t", "DT_UINT8"},    TypeName{6, "int16_t", "DT_INT16"},
    TypeName{7, "uint16_t", "DT_UINT16"},  TypeName{8, "uint32_t", "DT_UINT32"},
    TypeName{9, "int64_t", "DT_INT64"},    TypeName{10, "uint64_t", "DT_UINT64"},
    TypeName{11, "double", "DT_DOUBLE"},   TypeName{12, "bool", "DT_BOOL"},
    TypeName{27, "bfloat16_t", "DT_BF16"},
};

std::string upper(std::string text) {
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return text;
}

int arch_of(const std::vector<std::string>& chips) {
  const std::string chip = chips.empty() ? "ascend910b" : chips.front();
  if (chip.starts_with("ascend910b") || chip.starts_with("ascend910_93")) return 2201;
  if (chip.starts_with("ascend310p")) return 2002;
  if (chip.starts_with("ascend310b")) return 3002;
  return 1001;
}

}  // namespace

StatusOr<std::vector<OppRegistered>> parse_registered(std::string_view text) {
  std::vector<OppRegistered> out;
  std::istringstream in{std::string(text)};
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "fault")
      return Status::error("E40021", "op_host registers an operator that makes no sense:" + line.substr(5));
    if (kind == "op") {
      words >> out.emplace_back().type;
      continue;
    }
    if (out.empty()) return unreadable(line);
    OppRegistered& op = out.back();
    if (kind == "parameter") {
      OppRegistered::Param& p = op.params.emplace_back();
      words >> p.input >> p.name;
    } else if (kind == "chip") {
      words >> op.chips.emplace_back();
    } else if (kind == "types" || kind == "formats") {
      std::size_t column = 0;
      words >> column;
      std::vector<int>& list = (kind == "types" ? op.types : op.formats).emplace_back();
      for (int number = 0; words >> number;) list.push_back(number);
      if (list.size() != op.params.size()) return unreadable(line);
      words.clear();
    } else if (kind == "tiling") {
      std::size_t lines = 0;
      words >> op.tiling_class >> lines;
      for (std::string code; lines > 0 && std::getline(in, code); --lines) op.tiling_text += code + "\n";
    } else {
      return unreadable(line);
    }
    if (words.fail()) return unreadable(line);
  }
  return out;
}

std::string kernel_unit(const OppRegistered& op, std::size_t combination, const std::string& kernel_file,
                        const std::string& function, const std::string& symbol,
                        const std::vector<TemplateParam>& params) {
  std::string out = "#include <cstdint>\n";
  const auto define = [&](const std::string& name, const std::string& value) {
    out += "#define " + name + " " + value + "\n";
  };
  define("__NPU_ARCH__", std::to_string(arch_of(op.chips)));
  for (std::size_t i = 0; i < op.params.size(); ++i) {
    const std::string name = upper(op.params[i].name);
    const int type = op.types[combination][i], format = op.formats[combination][i];
    const auto known =
        std::find_if(kTypes.begin(), kTypes.end(), [&](const TypeName& t) { return t.number == type; });
    if (known == kTypes.end()) continue;
    define("DTYPE_" + name, known->cpp);
    define("ORIG_DTYPE_" + name, known->dt);
    define("FORMAT_" + name, format == 0 ? "FORMAT_NCHW" : "FORMAT_ND");
  }
  if (!op.tiling_class.empty()) {
    out += op.tiling_text;
    define("GET_TILING_DATA(name, address)",
           "GET_TILING_DATA_WITH_STRUCT(" + op.tiling_class + ", name, address)");
  }
  out += "#include \"kernel_operator.h\"\n#include \"" + kernel_file + "\"\n";
  if (!params.empty()) {
    std::vector<int> inputs, outputs;
    for (std::size_t i = 0; i < op.params.size(); ++i)
      (op.params[i].input ? inputs : outputs).push_back(op.types[combination][i]);
    return out + template_unit(params, inputs, outputs, function, symbol);
  }
  return out + "#include \"ascendc/entry.h\"\nextern \"C\" __attribute__((visibility(\"default\"))) void " +
         symbol +
         "(AtcBlock* block, const AtcCoreApi* api, void* const* args) {\n  ::AscendC::detail::entry<&" +
         function + ">(block, api, args);\n}\n";
}

int declared_kernel_type(std::string_view source) {
  constexpr std::array<std::string_view, 10> kNames = {
      "AIV_ONLY",    "AIC_ONLY", "MIX_AIV_1_0", "MIX_AIC_1_0", "MIX_AIC_1_1",
      "MIX_AIC_1_2", "AICORE",   "VECTORCORE",  "MIX_AICORE",  "MIX_VECTOR_CORE"};
  constexpr std::string_view kMacro = "KERNEL_TASK_TYPE_DEFAULT(";
  std::size_t at = source.find(kMacro);
  // The Matmul object makes a kernel one of both kinds of cores, unless it asks for cube cores alone.
  if (at == std::string_view::npos && source.find("REGIST_MATMUL_OBJ(") != std::string_view::npos)
    return source.find("#define ASCENDC_CUBE_ONLY") != std::string_view::npos ? ATC_KERNEL_AIC_ONLY
                                                                              : ATC_KERNEL_MIX_AIC_1_2;
  if (at == std::string_view::npos) return ATC_KERNEL_AIV_ONLY;
  at = source.find_first_not_of(" \t", at + kMacro.size());
  std::string_view name = source.substr(std::min(at, source.size()));
  name = name.substr(0, name.find_first_of(" \t)"));
  constexpr std::string_view kPrefix = "KERNEL_TYPE_";
  if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
  const auto known = std::find(kNames.begin(), kNames.end(), name);
  return known == kNames.end() ? ATC_KERNEL_AIV_ONLY : static_cast<int>(known - kNames.begin());
}

}  // namespace atc::driver
