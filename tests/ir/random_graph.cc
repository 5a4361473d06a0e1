#include "random_graph.h"

#include <array>
#include <cstring>

namespace atc::ir {
namespace {

int pick(std::mt19937& rng, int n) { return static_cast<int>(rng() % static_cast<unsigned>(n)); }

std::string random_name(std::mt19937& rng) {
  static const std::array<std::string, 9> kNames = {
      "", "x", "conv/1:0", "a\"b\\c\n\t\x01\x7f", "const", "graph", "h\xc3\xa9", "_", "?3"};
  return kNames[static_cast<std::size_t>(pick(rng, static_cast<int>(kNames.size())))];
}

DType random_dtype(std::mt19937& rng) { return static_cast<DType>(1 + pick(rng, kDTypeCount - 1)); }

float random_float(std::mt19937& rng) {
  const std::uint32_t bits = static_cast<std::uint32_t>(rng());
  float v = 0;
  std::memcpy(&v, &bits, sizeof v);
  return v;
}

TensorType random_type(std::mt19937& rng) {
  TensorType t;
  if (pick(rng, 8) != 0) t.dtype = random_dtype(rng);
  if (pick(rng, 6) == 0) return t;
  t.shape.emplace();
  for (int i = pick(rng, 5); i > 0; --i) {
    std::string symbol = random_name(rng);
    t.shape->push_back(symbol.empty() ? Dim::of(pick(rng, 100)) : Dim::named(symbol));
  }
  if (t.shape->size() >= 3 && pick(rng, 3) == 0) t.format = Format::NC1HWC0;
  return t;
}

Tensor small_tensor(std::mt19937& rng) {
  Dims dims;
  for (int i = pick(rng, 3); i > 0; --i) dims.push_back(pick(rng, 4));
  return random_tensor(rng, random_dtype(rng), dims);
}

Attribute random_attribute(std::mt19937& rng) {
  const int n = pick(rng, 3);
  switch (pick(rng, 8)) {
    case 0:
      return static_cast<std::int64_t>(rng()) * (pick(rng, 2) == 0 ? 1 : -1000003);
    case 1:
      return random_float(rng);
    case 2:
      return random_name(rng);
    case 3:
      return std::vector<std::int64_t>(static_cast<std::size_t>(n), INT64_MIN);
    case 4:
      return std::vector<float>(static_cast<std::size_t>(n), random_float(rng));
    case 5:
      return std::vector<std::string>(static_cast<std::size_t>(n), random_name(rng));
    case 6:
      return small_tensor(rng);
    default:
      return std::vector<Tensor>(static_cast<std::size_t>(n), small_tensor(rng));
  }
}

void fill(std::mt19937& rng, Graph& graph, std::vector<Value*> visible, int nodes, int depth) {
  for (int i = pick(rng, 3); i >= 0; --i)
    visible.push_back(graph.add_input(random_name(rng), random_type(rng)));
  for (int i = pick(rng, 3); i > 0; --i)
    visible.push_back(graph.add_constant(random_name(rng), small_tensor(rng)));
  if (pick(rng, 3) == 0) {
    Value* packed =
        graph.add_constant("packed", random_tensor(rng, DType::F16, {1, 2, 2, 2, 16}), Format::NC1HWC0);
    packed->type.shape = to_shape({1, 20, 2, 2});
    visible.push_back(packed);
  }
  for (int i = 0; i < nodes; ++i) {
    std::vector<Value*> inputs;
    for (int k = pick(rng, 4); k > 0; --k)
      inputs.push_back(pick(rng, 6) == 0 ? nullptr : visible[rng() % visible.size()]);
    std::string type = random_name(rng);
    if (type.empty()) type = "Conv";
    Node* node = graph.add_node(type, inputs, pick(rng, 4), nullptr, random_name(rng), pick(rng, 20));
    node->name = random_name(rng);
    for (int k = pick(rng, 3); k > 0; --k) node->sources.push_back(random_name(rng));
    for (int k = pick(rng, 3); k > 0; --k) node->attrs.set(random_name(rng), random_attribute(rng));
    if (depth > 0 && pick(rng, 5) == 0) {
      auto body = std::make_shared<Graph>(random_name(rng), &graph);
      fill(rng, *body, visible, nodes / 4, depth - 1);
      node->attrs.set("body", body);
    }
    for (std::size_t k = 0; k < node->outputs().size(); ++k) {
      Value* v = node->output(k);
      v->set_name(random_name(rng));
      v->type = random_type(rng);
      if (pick(rng, 6) == 0)
        graph.drop_output(node, k);
      else
        visible.push_back(v);
    }
  }
  for (int i = pick(rng, 3); i >= 0; --i) graph.add_output(visible[rng() % visible.size()]);
}

}  // namespace

Tensor random_tensor(std::mt19937& rng, DType dtype, Dims dims) {
  const auto count = static_cast<std::size_t>(element_count(dims));
  if (dtype == DType::String) {
    Tensor t;
    t.dtype = dtype;
    t.shape = std::move(dims);
    for (std::size_t i = 0; i < count; ++i) t.strings.push_back(random_name(rng));
    return t;
  }
  MutableTensor m(dtype, std::move(dims));
  const bool splat = pick(rng, 3) == 0;
  for (std::byte& b : m.bytes()) b = static_cast<std::byte>(splat ? 0 : rng() & 0xff);
  const auto width = static_cast<std::size_t>(bit_width(dtype));
  if (width < 8 && (count * width) % 8 != 0)
    m.bytes().back() &= static_cast<std::byte>((1u << ((count * width) % 8)) - 1u);
  return std::move(m).freeze();
}

std::unique_ptr<Graph> random_graph(std::mt19937& rng, int nodes, int depth) {
  auto graph = std::make_unique<Graph>(random_name(rng));
  fill(rng, *graph, {}, nodes, depth);
  return graph;
}

}  // namespace atc::ir
