#include "driver/verify_run.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <new>
#include <optional>

#include "atc/base/check.h"
#include "atc/base/file.h"
#include "driver/compare.h"
#include "driver/compile.h"
#include "driver/input_shape.h"
#include "driver/options.h"
#include "driver/quantization_step.h"
#include "frontend/onnx/importer.h"
#include "om/reader.h"
#include "ops/random_stream.h"
#include "runtime/session.h"
#include "runtime/tensor_proto.h"

namespace atc::driver {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// Everything that a user sees of an error, on one line.
std::string full_text(const Status& status) {
  const Diagnostic& d = status.diagnostic();
  std::string out = d.code + ": " + d.message;
  for (const std::string& note : d.notes) out += "; " + note;
  for (const std::string& frame : d.context) out += "; while " + frame;
  for (const std::string* more : {&d.possible_cause, &d.solution})
    if (!more->empty()) out += "; " + *more;
  std::replace(out.begin(), out.end(), '\n', ' ');
  return out;
}

std::string number_text(double v) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%g", v);
  return buffer;
}

/// Runs one case; each step returns false when the case's outcome is known.
class Verifier {
 public:
  Verifier(const CaseFolder& folder, const VerifyOptions& options, const fs::path& scratch)
      : folder_(folder), options_(options), scratch_(scratch) {}

  CaseResult run() {
    StatusOr<CaseMeta> meta = read_meta(folder_.path);
    if (!meta.ok()) return outcome(CaseStatus::Error, full_text(meta.status()));
    meta_ = std::move(meta).value();
    if (folder_.data_sets.empty()) {
      if (compile({}) && meta_.may_refuse && !meta_.may_compile)
        outcome(CaseStatus::Fail, "it compiles, a refusal is expected");
      else if (!decided_)
        outcome(CaseStatus::Error, "it has no test_data_set_*");
      return result_;
    }
    for (const DataSet& set : folder_.data_sets)
      if (!verify(set)) break;
    if (!decided_) outcome(CaseStatus::Pass, "");
    return result_;
  }

 private:
  CaseResult& outcome(CaseStatus status, std::string reason) {
    decided_ = true;
    result_.status = status;
    result_.reason = std::move(reason);
    return result_;
  }
  bool end(CaseStatus status, std::string reason) {
    outcome(status, std::move(reason));
    return false;
  }

  bool verify(const DataSet& set) {
    if (!read_inputs(set) || !compile(input_files_) || !load()) return false;
    if (!meta_.may_compile) return end(CaseStatus::Fail, "it compiles, a refusal is expected");
    std::vector<Tensor> inputs, outputs;
    return pick_inputs(set, inputs) && execute(inputs, outputs) && check(set, outputs);
  }

  /// Files that cannot be read are left undefined: the compiler has the first word.
  bool read_inputs(const DataSet& set) {
    input_files_.clear();
    input_faults_.clear();
    for (const fs::path& path : set.inputs) {
      Tensor tensor;
      std::string fault;
      if (path.empty()) {
        fault = "it is missing";
      } else if (StatusOr<Tensor> read = read_proto(path); read.ok()) {
        tensor = std::move(read).value();
      } else {
        fault = full_text(read.status());
      }
      input_files_.push_back(std::move(tensor));
      input_faults_.push_back(std::move(fault));
    }
    return true;
  }

  static StatusOr<Tensor> read_proto(const fs::path& path) {
    ATC_ASSIGN(const Bytes bytes, map_file(path));
    ATC_ASSIGN(runtime::NamedTensor named, runtime::decode_tensor_proto(bytes));
    return std::move(named.tensor);
  }

  /// Open dims of the model's inputs by name, in the words of --input_shape; a stale om is kept when
  /// nothing changed.
  bool compile(const std::vector<Tensor>& inputs) {
    StatusOr<std::vector<std::string>> arguments = command_line(inputs);
    if (!arguments.ok()) return refused(arguments.status());
    if (*arguments == compiled_) return true;
    compiled_ = *arguments;
    prepared_ = nullptr;
    const Clock::time_point start = Clock::now();
    const Status status = compile_to_om(*arguments);
    const double ms = ms_since(start);
    result_.compile_ms += ms;
    if (!status.ok()) return refused(status);
    if (meta_.max_compile_seconds && ms > *meta_.max_compile_seconds * 1000)
      return end(CaseStatus::Fail, "compiling took " + number_text(ms / 1000) + " s, at most " +
                                       number_text(*meta_.max_compile_seconds) + " s are allowed");
    return true;
  }

  Status compile_to_om(const std::vector<std::string>& arguments) {
    ATC_ASSIGN(const CommandLine line, CommandLine::parse(arguments));
    ATC_ASSIGN(const CompileOptions compile_options, read_options(line));
    precision_ = compile_options.precision;
    any_float_ = !compile_options.output_types.empty();
    om_ = compile_options.om_output();
    try {
      CompileResult compiled;
      return driver::compile(compile_options, compiled);
    } catch (const InternalError& bug) {
      return Status::error("E19999", bug.what());
    } catch (const std::bad_alloc&) {
      return Status::error("E10059", "not enough memory to compile the model");
    }
  }

  StatusOr<std::vector<std::string>> command_line(const std::vector<Tensor>& inputs) {
    std::vector<std::string> arguments = {"--model=" + (folder_.path / "model.onnx").string(),
                                          "--framework=5", "--output=" + (scratch_ / "model").string(),
                                          "--soc_version=" + options_.soc_version,
                                          "--threads=" + std::to_string(options_.threads)};
    arguments.insert(arguments.end(), meta_.options.begin(), meta_.options.end());
    arguments.insert(arguments.end(), options_.atc.begin(), options_.atc.end());
    ATC_ASSIGN(const CommandLine given, CommandLine::parse(arguments));
    if (!given.given("precision_mode") && !given.given("precision_mode_v2"))
      arguments.push_back("--precision_mode_v2=" + options_.precision);
    const std::string shapes = bound_shapes(given, inputs);
    if (!shapes.empty()) arguments.push_back("--input_shape=" + shapes);
    return arguments;
  }

  /// The value of --input_shape that binds what model and options leave open to the data's shapes; "" when
  /// nothing is open, or when the options make the model dynamic on purpose.
  std::string bound_shapes(const CommandLine& given, const std::vector<Tensor>& inputs) {
    for (const char* dynamic :
         {"input_shape_range", "dynamic_batch_size", "dynamic_image_size", "dynamic_dims"})
      if (given.given(dynamic)) return {};
    if (inputs.empty()) return {};
    if (source_graph() == nullptr) return {};
    std::vector<std::string> named;
    std::string text(given.given_text("input_shape"));
    if (!text.empty()) {
      const StatusOr<std::vector<InputShape>> shapes = parse_input_shape(text);
      if (!shapes.ok()) return {};
      for (const InputShape& shape : *shapes) named.push_back(shape.name);
    }
    bool added = false;
    const auto model_inputs = model_.graph->inputs();
    for (std::size_t i = 0; i < model_inputs.size() && i < inputs.size(); ++i) {
      const ir::Value& value = *model_inputs[i];
      const bool open = !value.type.shape || !ir::is_static(*value.type.shape);
      if (!open || inputs[i].dtype == DType::Undefined ||
          std::find(named.begin(), named.end(), value.name()) != named.end())
        continue;
      const Dims& dims = inputs[i].shape;  // the option knows no empty dims
      if (std::find(dims.begin(), dims.end(), 0) != dims.end()) continue;
      text +=
          (text.empty() || text.ends_with(';') ? "" : ";") + value.name() + ":" + to_string(inputs[i].shape);
      added = true;
    }
    return added ? text : std::string();
  }

  /// The model as imported; null when it cannot be loaded, which is the compiler's to refuse.
  const ir::Graph* source_graph() {
    if (!model_read_) {
      model_read_ = true;
      StatusOr<ir::Model> model = frontend::import_model(folder_.path / "model.onnx");
      if (model.ok()) model_ = std::move(model).value();
    }
    return model_.graph.get();
  }

  bool refused(const Status& status) {
    const std::string text = full_text(status);
    const std::string& code = status.diagnostic().code;
    if (code == "E19999") return end(CaseStatus::Error, text);
    if (!meta_.may_refuse)
      return end(is_unsupported_code(code) ? CaseStatus::Unsupported : CaseStatus::Error, text);
    std::string missing;
    for (const std::string& word : meta_.mention)
      if (text.find(word) == std::string::npos) missing += (missing.empty() ? "'" : ", '") + word + "'";
    if (!missing.empty())
      return end(CaseStatus::Fail, "the refusal does not mention " + missing + ": " + text);
    return end(CaseStatus::Pass, "refused: " + text);
  }

  bool load() {
    if (prepared_ != nullptr) return true;
    StatusOr<Bytes> file = map_file(om_);
    if (!file.ok()) return end(CaseStatus::Error, full_text(file.status()));
    if (meta_.max_artifact_bytes && file->size() > static_cast<std::uint64_t>(*meta_.max_artifact_bytes))
      return end(CaseStatus::Fail, "the .om has " + std::to_string(file->size()) + " bytes, at most " +
                                       std::to_string(*meta_.max_artifact_bytes) + " are allowed");
    const Status status = load_om(*file);
    return status.ok() || end(CaseStatus::Error, full_text(status));
  }

  Status load_om(const Bytes& file) {
    try {
      ATC_ASSIGN(om::LoadedOm loaded, om::load_om(file));
      ATC_ASSIGN(prepared_, runtime::prepare(std::move(loaded.plan)));
      runtime::SessionOptions session_options;
      session_options.threads = options_.threads;
      ATC_ASSIGN(session_, runtime::Session::create(prepared_, loaded.weights, session_options));
      return {};
    } catch (const InternalError& bug) {
      return Status::error("E19999", bug.what());
    }
  }

  /// The data of each input of the compiled model, which may have fewer than the source model.
  bool pick_inputs(const DataSet& set, std::vector<Tensor>& inputs) {
    const std::vector<runtime::TensorSpec>& specs = session_->input_specs();
    for (std::size_t i = 0; i < specs.size(); ++i) {
      const std::size_t file = file_of(specs[i].name, i);
      if (file >= input_files_.size())
        return end(CaseStatus::Error, set.name + " has no input_" + std::to_string(file) + ".pb for input '" +
                                          specs[i].name + "'");
      if (!input_faults_[file].empty())
        return end(CaseStatus::Error,
                   set.name + "/input_" + std::to_string(file) + ".pb: " + input_faults_[file]);
      Tensor tensor = input_files_[file];
      tensor = as_declared(std::move(tensor), specs[i].dtype);
      // --input_fp16_nodes makes the model take halves; the data was made for the source model.
      if (tensor.dtype != specs[i].dtype && is_float(tensor.dtype) && is_float(specs[i].dtype))
        tensor = from_doubles(specs[i].dtype, tensor.shape, to_doubles(tensor));
      // Data of an input that nothing reads (the second one of CastLike) may have any shape.
      if (tensor.shape != specs[i].shape && !is_read(prepared_->plan.inputs[i].tensor))
        tensor = MutableTensor(specs[i].dtype, specs[i].shape).freeze();
      // Some exporters save a scalar as a tensor of one element.
      if (tensor.count() == 1 && element_count(specs[i].shape) == 1) tensor.shape = specs[i].shape;
      inputs.push_back(std::move(tensor));
    }
    return true;
  }

  bool is_read(int tensor) const {
    const auto reads = [&](const plan::PlanTask& task) {
      return std::find(task.inputs.begin(), task.inputs.end(), tensor) != task.inputs.end() ||
             std::any_of(task.kernel.operands.begin(), task.kernel.operands.end(),
                         [&](const kernels::Operand& o) { return o.tensor == tensor; });
    };
    return std::any_of(prepared_->plan.tasks.begin(), prepared_->plan.tasks.end(), reads);
  }

  std::size_t file_of(const std::string& input, std::size_t position) const {
    if (model_.graph != nullptr)
      for (std::size_t i = 0; i < model_.graph->inputs().size(); ++i)
        if (model_.graph->inputs()[i]->name() == input) return i;
    return position;
  }

  bool execute(const std::vector<Tensor>& inputs, std::vector<Tensor>& outputs) {
    const Clock::time_point start = Clock::now();
    StatusOr<std::vector<Tensor>> ran = session_->run(inputs);
    result_.run_ms += ms_since(start);
    if (!ran.ok()) return end(CaseStatus::Error, full_text(ran.status()));
    outputs = std::move(ran).value();
    return true;
  }

  CompareRule rule() const {
    CompareRule rule;
    rule.rtol = meta_.rtol.value_or(options_.rtol);
    rule.atol = meta_.atol.value_or(options_.atol);
    rule.any_float_dtype = any_float_;
    const bool own_tolerance = meta_.rtol || meta_.atol;
    if (const auto steps = meta_.steps ? meta_.steps : options_.steps; steps && !own_tolerance) {
      rule.kind = CompareRule::Kind::Steps;
      rule.steps = *steps;
      return rule;
    }
    if (precision_ != passes::Precision::Origin && !own_tolerance) rule.kind = CompareRule::Kind::Cosine;
    return rule;
  }

  bool check(const DataSet& set, const std::vector<Tensor>& outputs) {
    if (outputs.size() != set.outputs.size())
      return end(CaseStatus::Fail, "the model gives " + std::to_string(outputs.size()) + " outputs, " +
                                       set.name + " has " + std::to_string(set.outputs.size()));
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const std::string label =
          set.name + " output " + std::to_string(i) + " '" + session_->output_specs()[i].name + "'";
      if (set.outputs[i].empty()) return end(CaseStatus::Error, label + ": its .pb file is missing");
      const StatusOr<Tensor> expected = read_proto(set.outputs[i]);
      if (!expected.ok()) return end(CaseStatus::Error, label + ": " + full_text(expected.status()));
      // The bits of that time were cut off, not rounded: one unit in the last place.
      CompareRule by = rule();
      if (expected->dtype == DType::U16 && outputs[i].dtype == DType::BF16)
        by.rtol = std::max(by.rtol, 0x1p-7);
      const Tensor wanted = as_declared(*expected, outputs[i].dtype);
      if (by.kind == CompareRule::Kind::Steps) by.step = quantization_step(source_output(i), wanted);
      if (has_open_sequence(source_graph())) return check_random(label, wanted, outputs[i]);
      const Comparison c = compare(wanted, outputs[i], by);
      result_.max_abs = std::max(result_.max_abs, c.max_abs);
      result_.max_rel = std::max(result_.max_rel, c.max_rel);
      result_.min_cosine = std::min(result_.min_cosine, c.cosine);
      result_.beyond_steps = std::max(result_.beyond_steps, c.beyond);
      if (!c.pass && !decided_) outcome(CaseStatus::Fail, label + ": " + c.reason);
    }
    return !decided_;
  }

  /// Output i of the model as imported; null when that could not be read or has no such output.
  const ir::Value* source_output(std::size_t i) {
    const ir::Graph* graph = source_graph();
    return graph != nullptr && i < graph->outputs().size() ? graph->outputs()[i] : nullptr;
  }

  /// Recordings that are older than bf16 in files keep such tensors as u16 bits.
  static Tensor as_declared(Tensor recorded, DType declared) {
    if (recorded.dtype == DType::U16 && declared == DType::BF16) recorded.dtype = DType::BF16;
    return recorded;
  }

  /// Whether outputs hang on random numbers whose sequence the standard leaves open. (Dropout's is that of
  /// the standard's reference.)
  static bool has_open_sequence(const ir::Graph* graph) {
    if (graph == nullptr) return false;
    return std::any_of(graph->nodes().begin(), graph->nodes().end(), [](const auto& node) {
      const auto bodies = ir::subgraphs(*node);
      return (ops::draws_random_numbers(*node) && !node->is("Dropout")) ||
             std::any_of(bodies.begin(), bodies.end(),
                         [](const auto& body) { return has_open_sequence(body.get()); });
    });
  }

  /// Only type and shape can be held against a recording: never a pass.
  bool check_random(const std::string& label, const Tensor& expected, const Tensor& actual) {
    if (expected.dtype != actual.dtype || expected.shape != actual.shape)
      return end(CaseStatus::Fail, label + ": output is " + std::string(onnx_name(actual.dtype)) + "[" +
                                       to_string(actual.shape) + "], expected " +
                                       std::string(onnx_name(expected.dtype)) + "[" +
                                       to_string(expected.shape) + "]");
    return end(CaseStatus::Unsupported,
               label +
                   ": random numbers, which a recording of another generator cannot be compared with; "
                   "type and shape are right");
  }

  const CaseFolder& folder_;
  const VerifyOptions& options_;
  const fs::path& scratch_;
  CaseMeta meta_;
  CaseResult result_;
  bool decided_ = false;

  ir::Model model_;  // as imported, for its inputs
  bool model_read_ = false;
  std::vector<Tensor> input_files_;
  std::vector<std::string> input_faults_;  // why a file could not be read
  std::vector<std::string> compiled_;      // the arguments of the present om
  passes::Precision precision_ = passes::Precision::Origin;
  bool any_float_ = false;
  fs::path om_;
  std::shared_ptr<const runtime::PreparedPlan> prepared_;
  std::unique_ptr<runtime::Session> session_;
};

}  // namespace

std::string_view name(CaseStatus status) {
  constexpr std::array<std::string_view, 4> kNames = {"PASS", "FAIL", "UNSUPPORTED", "ERROR"};
  return kNames[static_cast<std::size_t>(status)];
}

bool is_unsupported_code(std::string_view code) {
  // E13025: the model takes a sequence, an optional or a sparse tensor.
  constexpr std::array<std::string_view, 8> kCodes = {"E10055", "E10501", "E13010", "E13025",
                                                      "E16002", "E19010", "EZ3002", "EZ3003"};
  return std::find(kCodes.begin(), kCodes.end(), code) != kCodes.end();
}

CaseResult verify_case(const CaseFolder& folder, const VerifyOptions& options, const fs::path& scratch) {
  std::error_code error;
  fs::current_path(scratch, error);
  if (error) {
    CaseResult result;
    result.reason = "cannot enter the working folder " + scratch.string() + ": " + error.message();
    return result;
  }
  return Verifier(folder, options, scratch).run();
}

}  // namespace atc::driver
