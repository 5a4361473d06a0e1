#include "plan/build.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "atc/base/math.h"
#include "atc/ir/text.h"
#include "kernels/block_count.h"
#include "kernels/strided_copy.h"
#include "ops/body.h"
#include "ops/in_place.h"
#include "ops/lower.h"
#include "passes/extract.h"
#include "plan/custom_task.h"
#include "plan/device_memory.h"

namespace atc::plan {
namespace {

using ir::Node;
using ir::Value;
using kernels::Operand;

constexpr std::int64_t kWeightAlignment = 64;

void unique_constant_names(ir::Graph& graph) {
  std::set<std::string> taken;
  std::map<std::string, int> next;  // suffix to try, by name: thousands may share one
  for (const Value* v : graph.values())
    if (!v->is_constant()) taken.insert(v->name());
  for (Value* v : graph.values()) {
    if (!v->is_constant()) continue;
    std::string name = v->name().empty() ? "const" : v->name();
    int& suffix = next.try_emplace(name, 2).first->second;
    while (!taken.insert(name).second) name = v->name() + "#" + std::to_string(suffix++);
    v->set_name(name);
  }
}

class Builder final : public ops::LowerContext {
 public:
  Builder(ir::Graph& graph, const soc::Chip& chip, std::size_t unread)
      : graph_(graph),
        chip_(chip),
        block_count_(chip),
        outputs_(graph.outputs().first(graph.outputs().size() - unread)) {}

  StatusOr<BuiltPlan> run(const MemoryOptions& memory) {
    Plan& plan = out_.plan;
    plan.model_name = graph_.name;
    plan.soc_version = std::string(chip_.name);
    for (const Value* v : graph_.inputs()) ATC_TRY(refuse_strings("input", v));
    for (const Value* v : outputs_) ATC_TRY(refuse_strings("output", v));
    ATC_TRY(check_values_fit(graph_, chip_));
    for (const Value* v : graph_.inputs()) {
      const int t = add_tensor(v, Space::Input);
      plan.tensors[index(t)].index = static_cast<int>(plan.inputs.size());
      plan.inputs.push_back({v->name(), t});
    }
    for (const Value* v : outputs_) plan.outputs.push_back({v->name(), -1});
    find_parts();
    for (const auto& n : graph_.nodes()) ATC_TRY(lower(*n));
    for (std::size_t i = 0; i < outputs_.size(); ++i) ATC_TRY(finish_output(i));
    std::vector<Shown> shown(plan.tensors.size());
    for (std::size_t t = 0; t < shown.size(); ++t) shown[t] = shown_by(static_cast<int>(t));
    plan_arena(plan, shown, memory);
    ATC_TRY(check_plan_fits(plan, chip_));
    plan.info["arena_lower_bound"] = std::to_string(plan.memory.bound);
    return std::move(out_);
  }

  const Node& node() const override { return *node_; }
  const soc::Chip& chip() const override { return chip_; }

  Operand read(const Value* v) override {
    auto it = tensor_of_.find(v);
    const int t = it != tensor_of_.end() ? it->second
                  : part_of_.contains(v) ? add_output_tensor(v)
                                         : add_weight(v->name(), v->constant(), v);
    return operand(t, v, false);
  }

  Operand write(const Value* v) override {
    auto it = tensor_of_.find(v);
    return operand(it != tensor_of_.end() ? it->second : add_output_tensor(v), v, true);
  }

  Operand constant(const std::string& name, const Tensor& tensor) override {
    const int t = add_weight(name, tensor, nullptr);
    return {t, 0, static_cast<std::int64_t>(tensor.byte_size()), tensor.dtype, false};
  }

  Operand workspace(DType dtype, std::int64_t bytes) override {
    PlanTensor t;
    t.name = "workspace";
    t.bytes = bytes;
    t.dtype = dtype;
    t.shape = {bytes / std::max(1, bit_width(dtype) / 8)};
    out_.plan.tensors.push_back(std::move(t));
    return {static_cast<int>(out_.plan.tensors.size()) - 1, 0, bytes, dtype, true};
  }

  void alias(const Value* out, const Value* of) override {
    const Operand source = read(of);
    const Shown shown = shown_by(source.tensor);
    PlanTensor& t = out_.plan.tensors[index(shown.root)];
    const int output = output_number(out);
    const bool whole = shown.offset == 0 && t.bytes == source.bytes;
    if (part_of_.contains(out) || (output >= 0 && (t.space != Space::Arena || !whole))) {
      copy_whole(source, write(out));
      return;
    }
    if (output >= 0) {
      t.space = Space::Output;
      t.index = output;
    }
    tensor_of_[out] = view(source.tensor, out);
  }

  void emit(kernels::Task task, std::string label) override {
    PlanTask t;
    t.name =
        node_->name.empty() ? (node_->output(0) != nullptr ? node_->output(0)->name() : "") : node_->name;
    t.op_type = label.empty() ? node_->op_type : std::move(label);
    t.sources = node_->sources;
    t.kernel = std::move(task);
    block_count_.choose(t.kernel);
    out_.plan.tasks.push_back(std::move(t));
  }

 private:
  /// A value that lies in another one, `offset` bytes from its start.
  struct Part {
    const Value* whole = nullptr;
    std::int64_t offset = 0;
  };

  static std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }
  static bool is_static(const Value* v) { return v == nullptr || v->type.is_static(); }

  int output_number(const Value* v) const {
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      if (outputs_[i] == v) return static_cast<int>(i);
    return -1;
  }

  std::int64_t storage_bytes(const Value* v) const {
    return static_cast<std::int64_t>(
        byte_size(v->type.dtype, static_cast<std::size_t>(element_count(ops::storage_dims_of(v)))));
  }

  int add_tensor(const Value* v, Space space) {
    PlanTensor t;
    t.name = v->name();
    t.space = space;
    t.dtype = v->type.dtype;
    t.format = v->type.format;
    if (space == Space::Held) {
      // Of unknown rank, the shape is one open dim, as ONNX has no other way to say it either.
      if (!v->type.shape)
        t.shape = {-1};
      else
        for (const ir::Dim& d : *v->type.shape) t.shape.push_back(d.known() ? d.value : -1);
    } else {
      t.shape = v->type.dims();
      t.bytes = storage_bytes(v);
    }
    out_.plan.tensors.push_back(std::move(t));
    return tensor_of_[v] = static_cast<int>(out_.plan.tensors.size()) - 1;
  }

  // Tensor t as value v sees it: the same bytes under another shape or format are another entry.
  int view(int t, const Value* v) {
    PlanTensor seen = out_.plan.tensors[index(t)];
    if (seen.shape == v->type.dims() && seen.format == v->type.format) return t;
    ATC_CHECK(seen.items == 1, "'" + v->name() + "' shows what lies in several stretches");
    seen.name = v->name();
    seen.shape = v->type.dims();
    seen.format = v->type.format;
    seen.bytes = storage_bytes(v);
    out_.plan.tensors.push_back(std::move(seen));
    const int id = static_cast<int>(out_.plan.tensors.size()) - 1;
    view_of_[id] = shown_by(t);
    return id;
  }
  Shown shown_by(int t) const {
    auto it = view_of_.find(t);
    return it == view_of_.end() ? Shown{t, 0} : it->second;
  }
  int root(int t) const { return shown_by(t).root; }

  // What in-place parts of Concat, Split and Slice are parts of.
  void find_parts() {
    for (const auto& n : graph_.nodes()) {
      const Dims in_place = ops::in_place(*n);
      if (in_place.empty()) continue;
      const auto offsets = ops::part_offsets(*n);
      ATC_CHECK(offsets.has_value(), n->label() + " has parts that are not stretches of the whole");
      const bool joins = ops::is_concat(*n);
      for (const std::int64_t i : in_place) {
        const Value* v = joins ? ops::shown_value(n->input(index(i))) : n->output(index(i));
        part_of_[v] = {joins ? n->output(0) : n->input(0), offsets->at(index(i))};
      }
    }
  }

  // Tensor of a part of another value, which gets its own first.
  int add_part(const Value* v, const Part& part) {
    auto it = tensor_of_.find(part.whole);
    const int whole = it != tensor_of_.end() ? it->second : add_output_tensor(part.whole);
    const Shown shown = shown_by(whole);
    PlanTensor t = out_.plan.tensors[index(whole)];
    t.name = v->name();
    t.dtype = v->type.dtype;
    t.format = v->type.format;
    t.shape = v->type.dims();
    const auto lies = ops::stretches(ops::storage_dims_of(v), ops::storage_strides(v));
    ATC_CHECK(lies.has_value(), "part '" + v->name() + "' is not walked by one stride");
    const std::int64_t e = bit_width(t.dtype) / 8;
    t.items = lies->count;
    t.item_stride = lies->stride * e;
    t.bytes = t.items == 1 ? storage_bytes(v) : (t.items - 1) * t.item_stride + lies->elements * e;
    out_.plan.tensors.push_back(std::move(t));
    const int id = static_cast<int>(out_.plan.tensors.size()) - 1;
    view_of_[id] = {shown.root, shown.offset + part.offset};
    return tensor_of_[v] = id;
  }

  int add_output_tensor(const Value* v) {
    if (auto part = part_of_.find(v); part != part_of_.end()) return add_part(v, part->second);
    const int number = output_number(v);
    const int t = add_tensor(v, number >= 0 ? Space::Output : Space::Arena);
    out_.plan.tensors[index(t)].index = std::max(number, 0);
    return t;
  }

  int add_weight(const std::string& name, const Tensor& tensor, const Value* v) {
    ATC_CHECK(v == nullptr || v->is_constant(), "value '" + name + "' is read before it is written");
    PlanTensor t;
    t.name = name;
    t.space = Space::Weight;
    t.dtype = tensor.dtype;
    t.shape = v != nullptr ? v->type.dims() : tensor.shape;
    t.format = v != nullptr ? v->type.format : ir::Format::ND;
    t.bytes = static_cast<std::int64_t>(tensor.byte_size());
    t.offset = out_.plan.weight_bytes;
    out_.weights.push_back({t.offset, tensor.data});
    out_.plan.weight_bytes += round_up(t.bytes, kWeightAlignment);
    out_.plan.tensors.push_back(std::move(t));
    const int id = static_cast<int>(out_.plan.tensors.size()) - 1;
    if (v != nullptr) tensor_of_[v] = id;
    return id;
  }

  Operand operand(int t, const Value* v, bool output) const {
    const PlanTensor& tensor = out_.plan.tensors[index(t)];
    return {t, 0, tensor.items == 1 ? storage_bytes(v) : tensor.bytes, v->type.dtype, output};
  }

  Status lower(const Node& n) {
    node_ = &n;
    ATC_TRY(no_strings(n));
    if (n.is_internal("Region")) return lower_region(n);
    bool empty = true;
    for (const Value* v : n.outputs()) {
      if (!is_static(v))
        return ops::cannot_lower(
            n,
            "has an output whose shape depends on the data of its inputs, which this version cannot compile");
      empty = empty && (v == nullptr || element_count(v->type.dims()) == 0);
    }
    if (empty) {
      for (const Value* v : n.outputs())
        if (v != nullptr) write(v);
      return {};
    }
    if (n.is_internal("Custom")) return lower_custom(n);
    const ops::OpDef* def = ops::Registry::instance().find(n);
    ATC_CHECK(def != nullptr, "no operator " + n.label());
    if (def->lower != nullptr && (def->lowers == nullptr || def->lowers(n))) return def->lower(*this);
    return lower_to_cpu(n, *def);
  }

  static Status no_strings(const Node& n) {
    for (const auto list : {n.inputs(), n.outputs()})
      for (const Value* v : list)
        if (v != nullptr && v->type.dtype == DType::String)
          return ops::cannot_lower(n, "works on strings, which have no form on the device");
    return {};
  }

  /// Strings have no form on the device, at the edges of the model neither.
  static Status refuse_strings(const char* what, const Value* v) {
    if (v->type.dtype != DType::String) return {};
    return Status::error("E10055", "The operation is not supported. Reason: " + std::string(what) + " '" +
                                       v->name() + "' holds strings, which have no form on the device")
        .solution("Leave what works on strings on the host.");
  }

  /// A region is compiled when it runs, by whoever loads the model: without the library's functions.
  static Status refuse_custom(const ir::Graph& region) {
    for (const auto& n : region.nodes()) {
      if (n->is_internal("Custom"))
        return ops::cannot_lower(*n,
                                 "is a custom operator (" + n->attrs.get_string(ops::kCustomOp, "") +
                                     ") where shapes depend on data or in control flow, which this version "
                                     "cannot compile");
      for (const auto& body : ir::subgraphs(*n)) ATC_TRY(refuse_custom(*body));
    }
    return {};
  }

  Status lower_region(const Node& n) {
    PlanTask t;
    t.name = n.name.empty() ? n.output(0) != nullptr ? n.output(0)->name() : "" : n.name;
    t.op_type = "Region";
    t.sources = n.sources;
    t.engine = Engine::Region;
    const auto body = n.attrs.get_graph("body");
    ATC_CHECK(passes::outer_values(*body).empty(), "a region that reads values which are not its inputs");
    ATC_TRY(refuse_custom(*body));
    for (const Value* v : n.inputs()) t.inputs.push_back(read_of_region(v));
    for (std::size_t i = 0; i < n.outputs().size(); ++i) {
      const Value* v = n.output(i);
      ATC_CHECK(v != nullptr, "a region without one of its outputs");
      t.outputs.push_back(is_static(v) ? write(v).tensor : add_tensor(v, Space::Held));
    }
    t.air = ir::print(*body);
    out_.plan.tasks.push_back(std::move(t));
    return {};
  }

  Status lower_custom(const Node& n) {
    ATC_ASSIGN(CustomPlan made, plan_custom(n, chip_));
    PlanTask t;
    t.name = n.name.empty() ? n.output(0) != nullptr ? n.output(0)->name() : "" : n.name;
    t.op_type = made.op.info().type;
    t.sources = n.sources;
    t.engine = Engine::Custom;
    t.kernel.kernel = t.op_type;
    t.custom.library = add_library(*made.op.library);
    t.custom.op = t.op_type;
    t.custom.combination = made.combination;
    const auto take = [&](std::optional<Operand> operand) {
      t.custom.args.push_back(operand ? static_cast<int>(t.kernel.operands.size()) : -1);
      if (operand) t.kernel.operands.push_back(*operand);
    };
    for (std::size_t i = 0; i < made.op.info().inputs.size(); ++i)
      take(n.input(i) == nullptr ? std::nullopt : std::optional(read(n.input(i))));
    for (std::size_t i = 0; i < made.outputs.size(); ++i) {
      const custom::TensorInfo& out = made.outputs[i];
      const Dims dims = out.shape.value_or(Dims{});
      // The kernel writes all its outputs, also those that nobody reads.
      take(n.output(i) != nullptr
               ? write(n.output(i))
               : workspace(out.dtype, static_cast<std::int64_t>(byte_size(
                                          out.dtype, static_cast<std::size_t>(element_count(dims))))));
    }
    const auto scratch = static_cast<std::int64_t>(made.tiling.workspace_bytes);
    take(scratch == 0 ? std::nullopt : std::optional(workspace(DType::U8, scratch)));
    const int blocks = static_cast<int>(made.tiling.block_dim);
    t.kernel.block_tiles = kernels::split_tiles(blocks, blocks);
    t.custom.tiling = std::move(made.tiling);
    out_.plan.tasks.push_back(std::move(t));
    return {};
  }

  int add_library(const custom::Library& library) {
    std::vector<PlanLibrary>& all = out_.plan.libraries;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i].sha256 == library.sha256()) return static_cast<int>(i);
    all.push_back({library.name(), library.path(), library.sha256(), library.bytes()});
    return static_cast<int>(all.size()) - 1;
  }

  int read_of_region(const Value* v) {
    const auto known = tensor_of_.find(v);
    return known != tensor_of_.end() ? known->second : read(v).tensor;
  }

  // One operator by its reference evaluation.
  Status lower_to_cpu(const Node& n, const ops::OpDef& def) {
    if (def.reference == nullptr) return ops::cannot_lower(n, "has no form that this version can run");
    if (!ir::subgraphs(n).empty())
      return ops::cannot_lower(n, "has nested graphs, which this version cannot compile");
    PlanTask t;
    t.name = n.name.empty() ? n.output(0) != nullptr ? n.output(0)->name() : "" : n.name;
    t.op_type = n.op_type;
    t.sources = n.sources;
    t.engine = Engine::AiCpu;
    ir::Graph one(n.op_type);
    std::map<const Value*, Value*> inner;
    std::vector<Value*> in;
    for (const Value* v : n.inputs()) {
      if (v == nullptr) {
        in.push_back(nullptr);
        continue;
      }
      Value*& mine = inner[v];
      if (mine == nullptr) {
        mine = one.add_input("x" + std::to_string(t.inputs.size()), v->type);
        t.inputs.push_back(read(v).tensor);
      }
      in.push_back(mine);
    }
    Node* copy = one.add_node(n.op_type, std::move(in), static_cast<int>(n.outputs().size()), nullptr,
                              n.domain, n.version);
    copy->name = n.name;
    copy->attrs = n.attrs;
    for (std::size_t i = 0; i < n.outputs().size(); ++i) {
      const Value* v = n.output(i);
      if (v == nullptr) {
        one.drop_output(copy, i);
        continue;
      }
      if (v->type.dtype == DType::String)
        return ops::cannot_lower(n, "works on strings, which have no form on the device");
      copy->output(i)->set_name("y" + std::to_string(i));
      copy->output(i)->type = v->type;
      one.add_output(copy->output(i));
      t.outputs.push_back(write(v).tensor);
    }
    t.air = ir::print(one);
    out_.plan.tasks.push_back(std::move(t));
    return {};
  }

  void copy_whole(const Operand& from, Operand to) {
    kernels::CopySpec spec;
    spec.element_bytes = bit_width(from.dtype) / 8;
    kernels::CopySegment s;
    s.dims = {from.bytes / spec.element_bytes};
    s.src_strides = s.dst_strides = {1};
    spec.segments = {s};
    auto task = kernels::make_strided_copy(spec, {from, to}, chip_);
    ATC_CHECK(task.ok(), task.status().to_string());
    emit(*std::move(task), "Identity");
  }

  // Outputs that are inputs, constants, or the same value as another output are copied.
  Status finish_output(std::size_t i) {
    const Value* v = outputs_[i];
    PlanPort& port = out_.plan.outputs[i];
    auto it = tensor_of_.find(v);
    if (it != tensor_of_.end()) {
      const PlanTensor& t = out_.plan.tensors[index(it->second)];
      if (t.space == Space::Held || (t.space == Space::Output && t.index == static_cast<int>(i))) {
        port.tensor = it->second;
        return {};
      }
    }
    const Operand from = read(v);
    PlanTensor t = out_.plan.tensors[index(from.tensor)];
    t.space = Space::Output;
    t.index = static_cast<int>(i);
    t.offset = 0;
    t.name = port.name;
    t.shape = v->type.dims();
    t.format = v->type.format;
    t.bytes = storage_bytes(v);
    out_.plan.tensors.push_back(std::move(t));
    port.tensor = static_cast<int>(out_.plan.tensors.size()) - 1;
    if (from.bytes == 0) return {};
    ir::Graph scratch;
    Node* identity = scratch.add_node("Identity", {}, 0);
    identity->name = v->name();
    node_ = identity;
    copy_whole(from, {port.tensor, 0, from.bytes, from.dtype, true});
    return {};
  }

  ir::Graph& graph_;
  const soc::Chip& chip_;
  kernels::BlockCount block_count_;
  const std::span<Value* const> outputs_;  // of the plan
  const Node* node_ = nullptr;
  BuiltPlan out_;
  std::map<const Value*, int> tensor_of_;
  std::map<int, Shown> view_of_;  // a view's tensor -> what it shows
  std::map<const Value*, Part> part_of_;
};

}  // namespace

Bytes BuiltPlan::weight_section() const {
  MutableBytes all(static_cast<std::size_t>(plan.weight_bytes));
  for (const WeightPiece& piece : weights)
    piece.bytes.copy_to(all.span().subspan(static_cast<std::size_t>(piece.offset), piece.bytes.size()));
  return std::move(all).freeze();
}

StatusOr<BuiltPlan> build_plan(ir::Graph& graph, const soc::Chip& chip, const MemoryOptions& memory,
                               std::size_t unread) {
  ATC_CHECK(unread <= graph.outputs().size(), "more unread outputs than there are");
  graph.sweep();
  unique_constant_names(graph);
  return Builder(graph, chip, unread).run(memory);
}

}  // namespace atc::plan
