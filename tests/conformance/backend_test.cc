// The ONNX standard's backend tests: every operator's inference and reference against recorded outputs.
//
// Models come from ATC_CASES/onnx_node (else <source>/../shared/cases/onnx_node) and from the folder that
// ATC_ONNX_TESTDATA names (else Debian's libonnx-testdata).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>

#include "atc/ir/graph.h"
#include "conformance/compare.h"
#include "conformance/evaluate.h"
#include "conformance/tensor_file.h"
#include "frontend/onnx/importer.h"
#include "ops/op.h"
#include "ops/random_stream.h"
#include "passes/infer_shapes.h"

namespace atc::conformance {
namespace {

namespace fs = std::filesystem;

fs::path folder(const char* variable, const fs::path& fallback) {
  const char* set = std::getenv(variable);
  return set != nullptr ? fs::path(set) : fallback;
}

std::vector<fs::path> find_cases() {
  const fs::path cases = folder("ATC_CASES", fs::path(ATC_SOURCE_DIR) / ".." / "shared" / "cases");
  const fs::path debian = folder("ATC_ONNX_TESTDATA", "/usr/share/libonnx-testdata/data");
  std::vector<fs::path> found;
  for (const fs::path& suite : {cases / "onnx_node", debian / "node", debian / "simple",
                                debian / "pytorch-operator", debian / "pytorch-converted"}) {
    if (!fs::is_directory(suite)) continue;
    for (const auto& entry : fs::directory_iterator(suite))
      if (fs::exists(entry.path() / "model.onnx")) found.push_back(entry.path());
  }
  std::ranges::sort(found);
  return found;
}

/// "onnx_node_test_add": the suite's folder and the case, as a test name.
std::string case_name(const fs::path& path) {
  std::string name = path.parent_path().filename().string() + "_" + path.filename().string();
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

/// Operators of the model that the registry lacks, nested graphs included.
std::set<std::string> unknown_operators(const ir::Graph& graph) {
  std::set<std::string> unknown;
  for (const auto& node : graph.nodes()) {
    if (ops::Registry::instance().find(*node) == nullptr) unknown.insert(node->op_type);
    for (const auto& body : ir::subgraphs(*node)) unknown.merge(unknown_operators(*body));
  }
  return unknown;
}

/// The shapes of these hang on data even when every input is a constant.
bool has_data_dependent_shape(const ir::Graph& graph) {
  static const std::set<std::string> kOperators = {
      "NonZero", "NonMaxSuppression", "Unique", "Loop", "Scan", "If", "Compress", "StringSplit"};
  return std::ranges::any_of(graph.nodes(),
                             [](const auto& node) { return kOperators.contains(node->op_type); });
}

/// "" when what inference says of a value holds for its tensor.
std::string type_conflict(const ir::TensorType& type, const Tensor& t) {
  const std::string what =
      "inferred " + ir::to_string(type) + ", evaluated " + ir::to_string(ir::tensor_type(t.dtype, t.shape));
  if (type.dtype != t.dtype) return what;
  if (!type.shape) return {};
  if (type.shape->size() != t.shape.size()) return what;
  for (std::size_t i = 0; i < t.shape.size(); ++i)
    if ((*type.shape)[i].known() && (*type.shape)[i].value != t.shape[i]) return what;
  return {};
}

/// True of models whose outputs are numbers of a sequence that the standard leaves open. (Dropout's is the
/// one of its reference evaluation.)
bool is_random(const ir::Graph& graph) {
  return std::ranges::any_of(graph.nodes(), [](const auto& node) {
    return ops::draws_random_numbers(*node) && !node->is("Dropout");
  });
}

/// Older recordings keep bf16 tensors as u16 bits.
Tensor as_declared(Tensor recorded, const ir::TensorType& type) {
  if (recorded.dtype == DType::U16 && type.dtype == DType::BF16) recorded.dtype = DType::BF16;
  return recorded;
}

class Backend : public testing::TestWithParam<fs::path> {
 protected:
  /// Reads test_data_set_<set>; false when it holds more than tensors.
  static bool read_set(const fs::path& data, const char* kind, std::vector<Tensor>& out) {
    for (int i = 0;; ++i) {
      const fs::path file = data / (std::string(kind) + "_" + std::to_string(i) + ".pb");
      if (!fs::exists(file)) return true;
      auto t = read_tensor_file(file);
      if (!t) return false;
      out.push_back(*std::move(t));
    }
  }

  static void check_set(const ir::Graph& graph, const std::vector<Tensor>& inputs,
                        const std::vector<Tensor>& outputs) {
    Environment environment;
    ASSERT_LE(inputs.size(), graph.inputs().size());
    for (std::size_t i = 0; i < inputs.size(); ++i)
      environment[graph.inputs()[i]] = as_declared(inputs[i], graph.inputs()[i]->type);
    const Status status = evaluate(graph, environment);
    ASSERT_TRUE(status.ok()) << status.to_string();
    ASSERT_EQ(outputs.size(), graph.outputs().size());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const ir::Value* v = graph.outputs()[i];
      const Tensor& actual = v->is_constant() ? v->constant() : environment.at(v);
      EXPECT_EQ(difference(actual, as_declared(outputs[i], v->type)), "") << "output " << i;
    }
    for (const auto& [value, tensor] : environment) {
      if (value->is_input()) continue;  // as the model declares it, which a recording may not follow
      EXPECT_EQ(type_conflict(value->type, tensor), "") << "value " << value->name();
    }
  }

  /// With the inputs as constants nothing but data-dependent operators leaves a shape open.
  static void check_static(ir::Graph& graph, const std::vector<Tensor>& inputs,
                           const std::vector<Tensor>& outputs) {
    for (std::size_t i = 0; i < inputs.size(); ++i)
      graph.replace_uses(graph.inputs()[i],
                         graph.add_constant("constant_" + std::to_string(i),
                                            as_declared(inputs[i], graph.inputs()[i]->type)));
    const Status status = passes::infer_shapes(graph);
    ASSERT_TRUE(status.ok()) << status.to_string();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const ir::TensorType& type = graph.outputs()[i]->type;
      EXPECT_EQ(type_conflict(type, as_declared(outputs[i], type)), "") << "output " << i;
      // Values between the nodes of a chain are not folded here, so only single nodes must be static.
      if (graph.node_count() == 1 && !has_data_dependent_shape(graph)) {
        EXPECT_TRUE(type.is_static()) << "output " << i << " is " << ir::to_string(type);
      }
    }
  }
};

TEST_P(Backend, MatchesRecordedOutputs) {
  StatusOr<ir::Model> model = frontend::import_model(GetParam() / "model.onnx");
  if (!model.ok() && model.status().diagnostic().code == "E13025") GTEST_SKIP() << "an input is not a tensor";
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  ir::Graph& graph = *model->graph;
  if (const auto unknown = unknown_operators(graph); !unknown.empty())
    GTEST_SKIP() << "no operator " << *unknown.begin();
  if (is_random(graph)) GTEST_SKIP() << "recorded with random numbers";

  const Status inferred = passes::infer_shapes(graph);
  ASSERT_TRUE(inferred.ok()) << inferred.to_string();
  for (int set = 0;; ++set) {
    const fs::path data = GetParam() / ("test_data_set_" + std::to_string(set));
    if (!fs::is_directory(data)) break;
    std::vector<Tensor> inputs;
    std::vector<Tensor> outputs;
    if (!read_set(data, "input", inputs) || !read_set(data, "output", outputs))
      GTEST_SKIP() << "an input or output is not a tensor";
    check_set(graph, inputs, outputs);
    if (set == 0 && inputs.size() == graph.inputs().size()) {
      auto copy = graph.clone();
      check_static(*copy, inputs, outputs);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Onnx, Backend, testing::ValuesIn(find_cases()),
                         [](const auto& test) { return case_name(test.param); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Backend);

}  // namespace
}  // namespace atc::conformance
