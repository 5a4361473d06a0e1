#include "om/model_def.h"

#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "atc/base/check.h"
#include "atc/base/math.h"
#include "om/model_attrs.h"
#include "om/op_names.h"
#include "om/proto/ge.pb.h"
#include "om/proto_util.h"
#include "om/type_map.h"

namespace atc::om {
namespace {

using ge::proto::GraphDef;
using ge::proto::ModelDef;
using ge::proto::OpDef;

constexpr char kNetOutputName[] = "Node_Output";

/// Where a value comes from in the written graph.
struct Producer {
  std::string name;
  std::size_t index = 0;
  bool constant = false;
  std::string reference() const { return name + ":" + std::to_string(index); }
};

class GraphWriter {
 public:
  GraphWriter(const ir::Graph& graph, const plan::Plan& plan, GraphDef& out)
      : graph_(graph), plan_(plan), out_(out) {
    for (const plan::PlanTensor& tensor : plan.tensors)
      if (tensor.space == plan::Space::Weight) weights_.emplace(tensor.name, &tensor);
    if (const auto at = plan.info.find("input_format"); at != plan.info.end()) input_format_ = at->second;
    // Known before any node is named, so that no node takes it.
    names_.insert(kNetOutputName);
  }

  void write() {
    out_.set_name(to_utf8(graph_.name.empty() ? plan_.model_name : graph_.name));
    for (std::size_t i = 0; i < graph_.inputs().size(); ++i) write_data(*graph_.inputs()[i], i);
    for (const ir::Value* value : graph_.values())
      if (value->is_constant() && (!value->uses().empty() || graph_.is_output(value))) write_const(*value);
    for (const auto& node : graph_.nodes()) write_node(*node);
    write_net_output();
  }

  /// "node:index:name" of each graph output, as attr_model_out_nodes_name lists them.
  std::vector<std::string> output_names() const {
    std::vector<std::string> names;
    for (const ir::Value* value : graph_.outputs())
      names.push_back(producers_.at(value).reference() + ":" + value->name());
    return names;
  }

 private:
  OpDef& add_op(std::string name, std::string type) {
    OpDef& op = *out_.add_op();
    op.set_name(std::move(name));
    op.set_type(std::move(type));
    op.set_id(out_.op_size() - 1);
    return op;
  }

  /// `wanted`, or `wanted_1`, `wanted_2`, ... when it is taken. Viewers tell nodes apart by name.
  std::string unique_name(std::string_view wanted) {
    const std::string base = to_utf8(wanted);
    std::string name = base;
    int& serial = serials_[base];
    while (!names_.insert(name).second) name = base + "_" + std::to_string(++serial);
    return name;
  }

  const plan::PlanTensor* weight_of(const ir::Value& value) const {
    if (!value.is_constant()) return nullptr;
    const auto at = weights_.find(value.name());
    return at == weights_.end() ? nullptr : at->second;
  }

  /// The same for the producer and every consumer of a value: a viewer refuses a value whose ends
  /// disagree.
  void describe(const ir::Value& value, ge::proto::TensorDescriptor& desc) const {
    const plan::PlanTensor* weight = weight_of(value);
    if (weight != nullptr) {
      fill_desc(ir::tensor_type(weight->dtype, weight->shape, weight->format), "", weight->bytes, desc);
      return;
    }
    std::string_view layout;
    if (value.is_input() && value.type.shape) layout = axes_name(input_format_, value.type.shape->size());
    const auto bytes = value.is_constant() ? static_cast<std::int64_t>(value.constant().data.size()) : -1;
    fill_desc(value.type, layout, bytes, desc);
  }

  void produce(const ir::Value& value, Producer producer, OpDef& op) {
    describe(value, *op.add_output_desc());
    producers_.emplace(&value, std::move(producer));
  }

  void write_data(const ir::Value& value, std::size_t index) {
    OpDef& op = add_op(unique_name(value.name()), "Data");
    set_int(*op.mutable_attr(), "index", static_cast<std::int64_t>(index));
    produce(value, {op.name(), 0, false}, op);
    out_.add_input(op.name() + ":0");
  }

  void write_const(const ir::Value& value) {
    OpDef& op = add_op(unique_name(value.name()), "Const");
    produce(value, {op.name(), 0, true}, op);
    ge::proto::TensorDef& tensor = *(*op.mutable_attr())["value"].mutable_t();
    describe(value, *tensor.mutable_desc());
    const plan::PlanTensor* weight = weight_of(value);
    if (weight == nullptr) {
      fill_data(value.constant(), tensor);
      return;
    }
    ge::proto::TensorDescriptor& desc = *tensor.mutable_desc();
    desc.set_weight_size(weight->bytes);
    desc.set_data_offset(weight->offset);
    set_int(*desc.mutable_attr(), "merged_offset", weight->offset);
  }

  void consume(const ir::Value* value, OpDef& op) {
    if (value == nullptr) {  // absent optional input
      op.add_input("");
      op.add_input_desc()->mutable_shape();
      op.add_is_input_const(false);
      return;
    }
    const auto at = producers_.find(value);
    ATC_CHECK(at != producers_.end(), "value '" + value->name() + "' is used before it is produced");
    op.add_input(at->second.reference());
    describe(*value, *op.add_input_desc());
    op.add_is_input_const(at->second.constant);
  }

  static std::string wanted_name(const ir::Node& node) {
    if (!node.name.empty()) return node.name;
    if (!node.sources.empty()) return node.sources.front();
    return node.op_type + "_" + std::to_string(node.id());
  }

  void write_node(const ir::Node& node) {
    OpDef& op = add_op(unique_name(wanted_name(node)), atc_op_type(node));
    for (const ir::Value* value : node.inputs()) consume(value, op);
    for (std::size_t i = 0; i < node.outputs().size(); ++i) {
      const ir::Value* value = node.outputs()[i];
      if (value == nullptr) {
        op.add_output_desc()->mutable_shape();
      } else {
        produce(*value, {op.name(), i, false}, op);
      }
    }
    AttrMap& attrs = *op.mutable_attr();
    for (const auto& [name, attribute] : node.attrs.map()) attrs[to_utf8(name)] = to_attr(attribute);
    set_string(attrs, "_onnx_op_type", onnx_op_type(node));
    if (!node.sources.empty()) set_strings(attrs, "_datadump_original_op_names", node.sources);
  }

  void write_net_output() {
    OpDef& op = add_op(kNetOutputName, "NetOutput");
    for (const ir::Value* value : graph_.outputs()) {
      consume(value, op);
      const Producer& from = producers_.at(value);
      op.add_src_name(from.name);
      op.add_src_index(static_cast<std::int64_t>(from.index));
      out_.add_output(from.reference());
    }
  }

  const ir::Graph& graph_;
  const plan::Plan& plan_;
  GraphDef& out_;
  std::string input_format_;
  std::map<std::string, const plan::PlanTensor*> weights_;
  std::unordered_map<const ir::Value*, Producer> producers_;
  std::set<std::string> names_;
  std::map<std::string, int> serials_;
};

/// Bytes of the callers' buffers.
std::int64_t port_bytes(const plan::Plan& plan) {
  std::int64_t total = 0;
  for (const auto* ports : {&plan.inputs, &plan.outputs}) {
    for (const plan::PlanPort& port : *ports) {
      const auto sum = checked_add(total, plan.tensors[static_cast<std::size_t>(port.tensor)].bytes);
      ATC_CHECK(sum.has_value(), "the model's inputs and outputs exceed 2^63 bytes together");
      total = *sum;
    }
  }
  return total;
}

void fill_model_attrs(const plan::Plan& plan, const SectionBytes& sections, AttrMap& attrs) {
  // The command line, versions and the like; what follows wins over an equal key.
  for (const auto& [key, value] : plan.info) set_string(attrs, key, value);
  set_string(attrs, "framework_type", "Onnx");
  set_string(attrs, "soc_version", plan.soc_version);
  set_string(attrs, "core_type", "AiCore");
  set_int(attrs, "memory_size", plan.arena_bytes);
  set_int(attrs, "weight_size", plan.weight_bytes);
  set_int(attrs, "zero_copy_memory_size", port_bytes(plan));
  set_int(attrs, "stream_num", 1);
  for (const char* name :
       {"event_num", "notify_num", "label_num", "task_gen_base_addr", "task_gen_weight_addr"})
    set_int(attrs, name, 0);
  set_ints(attrs, "om_info_list",
           {static_cast<std::int64_t>(sections.weights), static_cast<std::int64_t>(sections.kernels), 0,
            static_cast<std::int64_t>(sections.task_info), 0});
}

}  // namespace

StatusOr<std::string> encode_model_def(const ir::Graph& graph, const plan::Plan& plan,
                                       const SectionBytes& sections) {
  ModelDef model;
  model.set_name(to_utf8(plan.model_name));
  model.set_version(1);
  GraphWriter writer(graph, plan, *model.add_graph());
  writer.write();
  AttrMap& attrs = *model.mutable_attr();
  fill_model_attrs(plan, sections, attrs);
  set_strings(attrs, "attr_model_out_nodes_name", writer.output_names());
  return serialize(model, "MODEL_DEF");
}

}  // namespace atc::om
