#include <cmath>

#include "runtime/network_maker.h"

namespace atc::runtime {
namespace {

using ir::Value;

bool is_plane(const Dims& d) { return d.size() == 4; }

Value* convolution(NetworkMaker& m, Value* x, std::int64_t channels, std::int64_t kernel) {
  const Dims d = x->type.dims();
  const double scale = 2.0 / std::sqrt(static_cast<double>(d[1] * kernel * kernel));
  ir::Node* n =
      m.node("Conv", {x, m.constant({channels, d[1], kernel, kernel}, scale), m.constant({channels})});
  n->attrs.set("pads", Dims(4, kernel / 2));
  Value* y = m.finish(n);
  if (m.chance(60)) return m.add("Mul", {y, m.add("Sigmoid", {y})});
  return y;
}

// Channels of branches: whole blocks mostly.
std::int64_t width(NetworkMaker& m) { return m.chance(75) ? 16 * m.between(1, 2) : m.between(1, 40); }

Value* joined(NetworkMaker& m, std::vector<Value*> parts) {
  ir::Node* n = m.node("Concat", std::move(parts));
  n->attrs.set("axis", m.chance(50) ? std::int64_t{1} : std::int64_t{-3});
  return m.finish(n);
}

// Branches that are joined; some are read elsewhere too, and a second join goes on from the first.
void branches(NetworkMaker& m, Value* x) {
  std::vector<Value*> parts;
  for (std::int64_t i = m.between(2, 3); i > 0; --i)
    parts.push_back(
        m.chance(20) ? x : convolution(m, m.chance(70) || parts.empty() ? x : parts.back(), width(m), 1));
  Value* y = joined(m, parts);
  if (m.chance(40)) {
    parts.push_back(convolution(m, y, width(m), 1));
    y = joined(m, parts);
  }
  if (m.chance(60)) convolution(m, y, width(m), m.chance(50) ? 3 : 1);
}

// A squeeze-and-excitation block.
void excitation(NetworkMaker& m, Value* x) {
  const std::int64_t channels = x->type.dims()[1];
  Value* s = m.add("GlobalAveragePool", {x});
  s = m.add("Relu", {convolution(m, s, std::max<std::int64_t>(1, channels / 4), 1)});
  s = m.add(m.pick({"HardSigmoid", "Sigmoid"}), {convolution(m, s, channels, 1)});
  m.add("Mul", {x, s});
}

// Halves of the channels go different ways and meet again.
void halves(NetworkMaker& m, Value* x) {
  const std::int64_t channels = x->type.dims()[1];
  if (channels < 2) return;
  const std::int64_t first = channels > 16 ? 16 : channels / 2;
  ir::Node* n = m.node("Split", {x, m.ints({first, channels - first})}, 2, 13);
  n->attrs.set("axis", std::int64_t{1});
  m.finish(n);
  Value* left = convolution(m, n->output(0), first, 3);
  joined(m, m.chance(50) ? std::vector<Value*>{left, n->output(1)} : std::vector<Value*>{n->output(1), left});
}

// Pools of pools, joined with what they pool.
void pyramid(NetworkMaker& m, Value* x) {
  std::vector<Value*> parts = {x};
  for (std::int64_t i = m.between(1, 3); i > 0; --i) {
    ir::Node* n = m.node("MaxPool", {parts.back()}, 1, 12);
    n->attrs.set("kernel_shape", Dims{3, 3});
    n->attrs.set("pads", Dims(4, 1));
    parts.push_back(m.finish(n));
  }
  joined(m, parts);
}

Value* doubled(NetworkMaker& m, Value* x) {
  Dims sizes = x->type.dims();
  for (std::size_t i = 2; i < 4; ++i) sizes[i] *= m.between(1, 2);
  ir::Node* n = m.node("Resize", {x, nullptr, nullptr, m.ints(sizes)}, 1, 13);
  n->attrs.set("mode", m.pick({"nearest", "nearest", "linear"}));
  n->attrs.set("coordinate_transformation_mode", m.pick({"asymmetric", "half_pixel"}));
  n->attrs.set("nearest_mode", std::string("floor"));
  return m.finish(n);
}

void upsampled(NetworkMaker& m, Value* x) {
  Value* y = doubled(m, x);
  const Dims d = y->type.dims();
  Value* other =
      m.any([&](const Dims& o) { return is_plane(o) && o[0] == d[0] && o[2] == d[2] && o[3] == d[3]; });
  joined(m, {y, other});
}

// A detection head: anchors of `fields` numbers each, some of which are scaled, joined over everything.
void head(NetworkMaker& m, Value* x) {
  const Dims d = x->type.dims();
  const std::int64_t anchors = m.between(1, 3), fields = m.between(5, 20), pixels = d[2] * d[3];
  Value* y = convolution(m, x, anchors * fields, 1);
  y = m.add("Reshape", {y, m.ints({d[0], anchors, fields, d[2], d[3]})});
  ir::Node* t = m.node("Transpose", {y});
  t->attrs.set("perm", Dims{0, 1, 3, 4, 2});
  y = m.add("Sigmoid", {m.finish(t)});
  const auto part = [&](std::int64_t from, std::int64_t to) {
    return m.add("Slice", {y, m.ints({from}), m.ints({to}), m.ints({4}), m.ints({1})});
  };
  Value* xy = m.add("Mul", {m.add("Add", {part(0, 2), m.constant({1, 1, d[2], d[3], 2})}), m.scalar(0.5)});
  Value* wh = m.add("Mul", {m.add("Mul", {part(2, 4), m.scalar(2)}), m.constant({1, anchors, 1, 1, 2})});
  ir::Node* n = m.node("Concat", {xy, wh, part(4, fields)});
  n->attrs.set("axis", std::int64_t{-1});
  m.add("Reshape", {m.finish(n), m.ints({d[0], anchors * pixels, fields})});
}

}  // namespace

void add_image_step(NetworkMaker& m) {
  Value* x = m.any(is_plane);
  if (x == nullptr) return;
  switch (m.between(0, 7)) {
    case 0:
      return excitation(m, x);
    case 1:
      return halves(m, x);
    case 2:
      return pyramid(m, x);
    case 3:
      return upsampled(m, x);
    case 4:
      return head(m, x);
    default:
      return branches(m, x);
  }
}

RandomNetwork random_image_network(unsigned seed) {
  NetworkMaker m(seed);
  m.input({m.chance(80) ? 1 : 2, m.chance(50) ? 3 : 16 * m.between(1, 3), m.between(1, 8), m.between(2, 9)});
  for (std::int64_t i = m.between(1, 4); i > 0; --i) {
    add_image_step(m);
    if (m.chance(20)) add_vector_step(m);
    if (m.chance(15)) add_move_step(m);
  }
  if (m.graph().node_count() == 0) m.add("Relu", {m.any()});
  return finished(m);
}

}  // namespace atc::runtime
