#include "passes/cube_node.h"

#include "passes/rewrite.h"

namespace atc::passes {

using ir::Graph;
using ir::Node;
using ir::Value;

namespace {

// acc -> acc, or acc + bias.
std::shared_ptr<Graph> epilogue(const ir::TensorType& out, const Value* bias) {
  auto body = std::make_shared<Graph>("epilogue");
  Value* acc = body->add_input("acc", out);
  if (bias == nullptr) {
    body->add_output(acc);
    return body;
  }
  Value* b = body->add_input("bias", bias->type);
  Node* add = body->add_node("Add", {acc, b}, 1, nullptr, {}, 14);
  add->output(0)->type = out;
  body->add_output(add->output(0));
  return body;
}

}  // namespace

Node* replace_by_cube_node(Graph& g, Node& n, const std::string& type, std::vector<Value*> inputs,
                           const Value* bias) {
  Node* r = g.add_node(type, std::move(inputs), 1, &n, "atc", 0);
  r->name = n.name;
  r->sources = n.sources;
  r->output(0)->type = n.output(0)->type;
  r->attrs.set("epilogue", epilogue(n.output(0)->type, bias));
  replace_value(n.output(0), r->output(0));
  return r;
}

void set_geometry(Node& r, const ops::WindowGeometry& w) {
  Dims pads = w.pads_begin;
  pads.insert(pads.end(), w.pads_end.begin(), w.pads_end.end());
  r.attrs.set("pads", pads);
  r.attrs.set("strides", w.strides);
  r.attrs.set("dilations", w.dilations);
}

Value* channel_constant(Graph& g, const Value* v, std::size_t rank) {
  Tensor t = v->constant();
  Dims dims(rank, 1);
  dims[1] = t.count();
  t.shape = dims;
  return g.add_constant(v->name(), t);
}

std::int64_t macs_of(const Dims& out, const Dims& weight, std::int64_t in_channels_per_group) {
  std::int64_t n = element_count(out) * in_channels_per_group;
  for (std::size_t i = 2; i < weight.size(); ++i) n *= weight[i];
  return n;
}

}  // namespace atc::passes
