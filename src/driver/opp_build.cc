#include "driver/opp_build.h"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "atc/base/file.h"
#include "atc/base/strings.h"
#include "driver/header_copies.h"
#include "driver/opp_description.h"
#include "driver/opp_registered.h"
#include "driver/subprocess.h"

namespace atc::driver {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> sources_in(const fs::path& folder) {
  std::vector<fs::path> out;
  std::error_code ignored;
  for (const fs::directory_entry& e : fs::directory_iterator(folder, ignored)) {
    const std::string extension = e.path().extension().string();
    if (extension == ".cpp" || extension == ".cc" || extension == ".asc") out.push_back(e.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

StatusOr<std::string> read_text(const fs::path& path) {
  ATC_ASSIGN(const Bytes bytes, map_file(path));
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

class Builder {
 public:
  Builder(const OppBuildOptions& options, fs::path home)
      : options_(options),
        home_(std::move(home)),
        project_(fs::absolute(options.project).lexically_normal()) {
    if (!project_.has_filename()) project_ = project_.parent_path();
    out_ = project_ / "build_out";
    objects_ = out_ / "objects";
  }

  StatusOr<fs::path> run() {
    host_ = sources_in(project_ / "op_host");
    kernels_ = sources_in(project_ / "op_kernel");
    if (host_.empty() || kernels_.empty())
      return Status::error("E13000",
                           "Folder " + options_.project.string() +
                               " is no operator project: it has no sources in op_host/ or op_kernel/")
          .solution("Make one by msopgen gen.");
    std::error_code error;
    fs::remove_all(objects_, error);
    fs::create_directories(objects_, error);
    if (error)
      return Status::error("E13002", "Folder " + objects_.string() + " cannot be made: " + error.message());
    ATC_TRY(compile_host());
    ATC_ASSIGN(const std::vector<OppRegistered> ops, registered());
    if (ops.empty())
      return Status::error("E40021", "op_host registers no operator")
          .solution("Derive a class from OpDef and name it in OP_ADD(...).");
    for (const OppRegistered& op : ops) ATC_TRY(compile_kernels(op));
    ATC_ASSIGN(const fs::path library, link_library());
    ATC_TRY(build_unit_tests(library));
    if (!options_.keep) fs::remove_all(objects_, error);
    return library;
  }

 private:
  std::vector<std::string> command(const char* standard) const {
    std::vector<std::string> out = {options_.compiler,
                                    standard,
                                    "-O2",
                                    "-g1",
                                    "-fPIC",
                                    "-fvisibility=hidden",
                                    "-fno-gnu-unique",
                                    "-ffp-contract=off",
                                    "-fstack-clash-protection"};
    for (const fs::path& folder :
         {home_ / "include", home_ / "include" / "opp", home_ / "include" / "ascendc", project_ / "op_host",
          project_ / "op_kernel"})
      out.push_back("-I" + folder.string());
    return out;
  }

  /// The compiler's words are the user's: shown as they are.
  static Status must_succeed(const std::vector<std::string>& arguments, const std::string& what) {
    ATC_ASSIGN(const SubprocessResult result, run_subprocess(arguments));
    if (!result.out.empty()) std::fputs(result.out.c_str(), stderr);
    if (result.code == 0) return {};
    return Status::error("E20001", what + " does not compile");
  }

  Status compile(const fs::path& source, const fs::path& object, const char* standard,
                 const std::string& what) const {
    std::vector<std::string> arguments = command(standard);
    arguments.insert(arguments.end(), {"-x", "c++", "-c", "-o", object.string(), source.string()});
    return must_succeed(arguments, what);
  }

  Status compile_host() {
    std::vector<fs::path> sources = host_;
    for (const fs::path& plugin : sources_in(project_ / "framework" / "onnx_plugin"))
      sources.push_back(plugin);
    for (const fs::path& source : sources) {
      const fs::path object =
          objects_ / (source.parent_path().filename().string() + "_" + source.stem().string() + ".o");
      ATC_TRY(compile(source, object, "-std=c++17", source.lexically_relative(project_).string()));
      host_objects_.push_back(object.string());
    }
    return {};
  }

  /// A program with op_host in it prints what is registered: a process of its own, so that what op_host does
  /// wrong ends there.
  StatusOr<std::vector<OppRegistered>> registered() const {
    const fs::path source = objects_ / "describe.cpp", program = objects_ / "describe";
    ATC_TRY(
        write_file(source, "#include \"atc_opp/describe.h\"\nint main() { return atc_opp::describe(); }\n"));
    std::vector<std::string> arguments = command("-std=c++17");
    arguments.insert(arguments.end(), {"-o", program.string(), source.string()});
    arguments.insert(arguments.end(), host_objects_.begin(), host_objects_.end());
    ATC_TRY(must_succeed(arguments, "op_host"));
    ATC_ASSIGN(const SubprocessResult result, run_subprocess({program.string()}, false));
    if (result.code != 0)
      return Status::error("E40021", "op_host ends with code " + std::to_string(result.code) +
                                         " when its operators are registered");
    return parse_registered(result.out);
  }

  /// op_kernel/<snake case of the type>, or the only file in which a function of this name is.
  StatusOr<fs::path> kernel_of(const OppRegistered& op, const std::string& function) const {
    for (const fs::path& k : kernels_)
      if (k.stem() == function) return k;
    for (const fs::path& k : kernels_) {
      ATC_ASSIGN(const std::string text, read_text(k));
      if (text.find(" " + function + "(") != std::string::npos) return k;
    }
    return Status::error("E13000", "The kernel of operator " + op.type +
                                       " is not found: op_kernel/ has no file " + function +
                                       ".cpp and no function " + function);
  }

  /// Functions beside the kernel that launch it by <<<...>>> are for programs: nobody calls them here. Which
  /// core runs is no constant.
  StatusOr<fs::path> without_launches(const fs::path& kernel, const std::string& text) const {
    HeaderCopies headers(objects_, {project_ / "op_kernel", project_ / "op_host"});
    ATC_ASSIGN(const std::string rewritten, headers.rewrite(text, kernel));
    const fs::path copy = objects_ / ("launches_" + kernel.filename().string());
    ATC_TRY(write_file(copy, "#include \"atc_opp/no_launch.h\"\n" + rewritten));
    return copy;
  }

  /// Classes of a kernel's file have the same names for every combination, and other contents: all symbols
  /// but the entry are made local, so that the linker does not take one for the other.
  Status compile_kernels(const OppRegistered& op) {
    const std::string function = snake_case(op.type);
    ATC_ASSIGN(const fs::path kernel, kernel_of(op, function));
    ATC_ASSIGN(const std::string text, read_text(kernel));
    const int type = declared_kernel_type(text);
    ATC_ASSIGN(const std::vector<TemplateParam> params, template_params(text, function));
    ATC_ASSIGN(const fs::path included, without_launches(kernel, text));
    for (std::size_t c = 0; c < op.types.size(); ++c) {
      const std::string symbol = "atc_kernel_" + function + "_" + std::to_string(c);
      const fs::path source = objects_ / (symbol + ".cpp"), object = objects_ / (symbol + ".o"),
                     joined = objects_ / (symbol + "_joined.o"), local = objects_ / (symbol + "_local.o");
      ATC_TRY(write_file(source, kernel_unit(op, c, included.string(), function, symbol, params)));
      ATC_TRY(compile(source, object, "-std=c++17",
                      kernel.lexically_relative(project_).string() + " (combination " + std::to_string(c) +
                          " of types)"));
      ATC_TRY(must_succeed({"ld", "-r", "--force-group-allocation", "-o", joined.string(), object.string()},
                           function));
      ATC_TRY(must_succeed({"objcopy", "--keep-global-symbol=" + symbol, joined.string(), local.string()},
                           function));
      kernel_objects_.push_back(local.string());
      declarations_ += "extern \"C\" void " + symbol + "(AtcBlock*, const AtcCoreApi*, void* const*);\n";
      rows_ += "    {\"" + op.type + "\", " + std::to_string(c) + ", " + std::to_string(type) + ", " +
               symbol + "},\n";
    }
    return {};
  }

  StatusOr<fs::path> link_library() const {
    const fs::path source = objects_ / "library.cpp", object = objects_ / "library.o";
    ATC_TRY(write_file(
        source, "#include \"atc_opp/library.h\"\n" + declarations_ +
                    "static const atc_opp::KernelRow kRows[] = {\n" + rows_ +
                    "};\nextern \"C\" __attribute__((visibility(\"default\"))) const AtcCustomOpLibrary* "
                    "atc_custom_op_library(uint32_t) {\n  return atc_opp::library_of(kRows, sizeof kRows / "
                    "sizeof kRows[0]);\n}\n"));
    ATC_TRY(compile(source, object, "-std=c++17", "the library's table of operators"));
    const fs::path library = out_ / ("lib" + project_.filename().string() + ".so");
    std::vector<std::string> arguments = {options_.compiler,     "-shared", "-Wl,-z,defs",
                                          "-Wl,--build-id=none", "-o",      library.string(),
                                          object.string()};
    arguments.insert(arguments.end(), host_objects_.begin(), host_objects_.end());
    arguments.insert(arguments.end(), kernel_objects_.begin(), kernel_objects_.end());
    ATC_TRY(must_succeed(arguments, library.filename().string()));
    return library;
  }

  /// Programs of unit_test/ that find the library beside them.
  Status build_unit_tests(const fs::path& library) const {
    for (const fs::path& source : sources_in(project_ / "unit_test")) {
      std::vector<std::string> arguments = command("-std=c++17");
      arguments.insert(arguments.end(),
                       {"-DATC_UNIT_TEST_LIBRARY=\"" + library.filename().string() + "\"", "-o",
                        (out_ / source.stem()).string(), "-x", "c++", source.string(), "-x", "none"});
      for (const std::string& l : simulator_libraries()) arguments.push_back(l);
      ATC_TRY(must_succeed(arguments, source.lexically_relative(project_).string()));
    }
    return {};
  }

  const OppBuildOptions& options_;
  fs::path home_, project_, out_, objects_;
  std::vector<fs::path> host_, kernels_;
  std::vector<std::string> host_objects_, kernel_objects_;
  std::string declarations_, rows_;
};

}  // namespace

StatusOr<fs::path> build_opp(const OppBuildOptions& options) {
  ATC_ASSIGN(fs::path home, project_home());
  return Builder(options, std::move(home)).run();
}

}  // namespace atc::driver
