// Small libraries of custom operators, made by the compiler that made the tests.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace atc::custom_test {

/// A folder of its own that goes with the object.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "atc_custom_XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// The operator Twice: y = factor * x, written by hand in plain C without Ascend C. Members are the parts
/// that tests replace. Other operators have more operands; all outputs have the dims of input 0.
struct LibrarySource {
  std::string type = "Twice";
  std::vector<std::string> inputs = {"x"}, outputs = {"y"};
  std::vector<std::string> more_attrs;  ///< beside factor: "ATC_ATTR_INT axis"
  std::string version = "ATC_CUSTOM_OP_VERSION";
  std::string core_version = "ATC_CORE_API_VERSION";
  std::string symbol = "atc_custom_op_library";
  std::string dtypes = "ATC_DT_FLOAT";  ///< of x and y, one for each combination
  std::string formats = "ATC_FORMAT_ND";
  std::string combinations = "1";
  std::string chips = "\"ascend910b\"";
  std::string attr_required = "0";
  std::string origins = "\"ai.onnx::Twofold\"";
  std::string infer =
      "for (unsigned o = 0; o < sizeof ys / sizeof ys[0]; ++o) {"
      "  outputs[o].rank = call->inputs[0].rank;"
      "  for (int i = 0; i < call->inputs[0].rank; ++i) outputs[o].dims[i] = call->inputs[0].dims[i];"
      "}"
      "return 0;";
  std::string tiling =
      "uint32_t n = 1;"
      "for (int i = 0; i < call->inputs[0].rank; ++i) n *= (uint32_t)call->inputs[0].dims[i];"
      "Data d = {n, call->attrs[0].f};"
      "memcpy(tiling->data, &d, sizeof d);"
      "tiling->data_bytes = sizeof d;"
      "tiling->block_dim = 3;"
      "return 0;";
  std::string kernel =
      "const Data* d = (const Data*)args[3];"
      "const T* x = (const T*)args[0];"
      "T* y = (T*)args[1];"
      "for (uint32_t i = (uint32_t)block->block_idx; i < d->n; i += (uint32_t)block->block_num)"
      "  y[i] = (T)(d->factor * x[i]);";
  std::string element = "float";
  std::string global;  ///< more code at file scope

  std::string text() const {
    return "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include \"atc/custom_op.h\"\n"
           "typedef " +
           element +
           " T;\n"
           "typedef struct Data { uint32_t n; float factor; } Data;\n" +
           global +
           "\n"
           "static const int32_t dtypes[] = {" +
           dtypes +
           "};\n"
           "static const int32_t formats[] = {" +
           formats + "};\n" + params("xs", inputs) + params("ys", outputs) +
           "static int infer(const AtcCustomCall* call, AtcCustomTensor* outputs) {\n" + infer +
           "\n}\n"
           "static int tile(const AtcCustomCall* call, AtcCustomTiling* tiling) {\n" +
           tiling +
           "\n}\n"
           "static void kernel(AtcBlock* block, const AtcCoreApi* api, void* const* args) {\n"
           "(void)block; (void)api; (void)args;\n" +
           kernel +
           "\n}\n"
           "static const AtcCustomAttrSpec attrs[] = {{{\"factor\", ATC_ATTR_FLOAT, 0, 0, 2.0f, NULL, NULL, "
           "NULL}, " +
           attr_required + "}" + attributes() +
           "};\n"
           "static const char* const chips[] = {" +
           chips +
           "};\n"
           "static const char* const origins[] = {" +
           origins +
           "};\n"
           "static const AtcKernel kernels[] = {kernel, kernel, kernel, kernel};\n"
           "static const AtcCustomOp op = {NULL, \"" +
           type + "\", \"\", xs, sizeof xs / sizeof xs[0], ys, sizeof ys / sizeof ys[0], " + combinations +
           ", attrs, sizeof attrs / sizeof attrs[0],\n"
           "  chips, sizeof chips / sizeof chips[0], origins, sizeof origins / sizeof origins[0],\n"
           "  infer, NULL, tile, NULL, ATC_KERNEL_AIV_ONLY, kernels};\n"
           "static const AtcCustomOpLibrary library = {" +
           version + ", " + core_version +
           ", 1, &op};\n"
           "#ifdef __cplusplus\nextern \"C\"\n#endif\n"
           "__attribute__((visibility(\"default\"))) const AtcCustomOpLibrary* " +
           symbol +
           "(uint32_t version) {\n"
           "  (void)version;\n  return &library;\n}\n";
  }

  static std::string params(const std::string& list, const std::vector<std::string>& names) {
    std::string out = "static const AtcCustomParam " + list + "[] = {";
    for (const std::string& name : names)
      out += "{\"" + name + "\", ATC_PARAM_REQUIRED, 0, dtypes, formats},";
    return out + "};\n";
  }
  std::string attributes() const {
    std::string out;
    for (const std::string& a : more_attrs)
      out += ", {{\"" + a.substr(a.find(' ') + 1) + "\", " + a.substr(0, a.find(' ')) +
             ", 0, 0, 0, \"\", NULL, NULL}, 0}";
    return out;
  }

  /// Compiles it; the path of the library, empty when the compiler refuses.
  std::filesystem::path build(const Folder& folder, const std::string& name = "twice.so") const {
    const std::filesystem::path source = folder / (name + ".c"), library = folder / name;
    std::ofstream(source) << text();
    const std::string command = std::string(ATC_CXX_COMPILER) +
                                " -x c -std=c11 -O1 -g -w -shared -fPIC -fexceptions -I" +
                                ATC_SOURCE_DIR "/include -o " + library.string() + " " + source.string();
    return std::system(command.c_str()) == 0 ? library : std::filesystem::path();
  }
};

}  // namespace atc::custom_test
