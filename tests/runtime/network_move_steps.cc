#include <algorithm>
#include <numeric>

#include "runtime/network_maker.h"

namespace atc::runtime {
namespace {

using ir::Value;

void transpose(NetworkMaker& m, Value* x) {
  Dims perm(x->type.dims().size());
  std::iota(perm.begin(), perm.end(), 0);
  for (std::size_t i = perm.size(); i > 1; --i)
    std::swap(perm[i - 1], perm[static_cast<std::size_t>(m.between(0, std::ssize(perm) - 1)) % i]);
  ir::Node* n = m.node("Transpose", {x});
  if (m.chance(90)) n->attrs.set("perm", perm);
  m.finish(n);
}

void reshape(NetworkMaker& m, Value* x) {
  const Dims d = x->type.dims();
  Dims to = d;
  if (d.size() >= 2 && m.chance(50)) {  // joins two axes
    const std::size_t at = static_cast<std::size_t>(m.between(0, std::ssize(d) - 2));
    to[at] *= to[at + 1];
    to.erase(to.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  } else if (!d.empty() && d.size() < 5) {  // splits one
    const std::size_t at = static_cast<std::size_t>(m.between(0, std::ssize(d) - 1));
    std::int64_t f = m.between(1, d[at]);
    while (d[at] % f != 0) --f;
    to[at] = f;
    to.insert(to.begin() + static_cast<std::ptrdiff_t>(at) + 1, d[at] / f);
  } else {
    to = {-1};
  }
  m.add("Reshape", {x, m.ints(to)});
}

void concat(NetworkMaker& m, Value* x, std::int64_t axis) {
  const Dims d = x->type.dims();
  std::vector<Value*> in;
  for (std::int64_t i = m.between(2, 3); i > 0; --i) {
    Value* v = m.any([&](const Dims& o) {
      if (o.size() != d.size()) return false;
      for (std::int64_t a = 0; a < std::ssize(d); ++a)
        if (a != axis && o[static_cast<std::size_t>(a)] != d[static_cast<std::size_t>(a)]) return false;
      return true;
    });
    in.push_back(m.chance(15) ? m.constant(d) : v);
  }
  ir::Node* n = m.node("Concat", in);
  n->attrs.set("axis", m.chance(50) ? axis : axis - std::ssize(d));
  m.finish(n);
}

void split(NetworkMaker& m, Value* x, std::int64_t axis) {
  const std::int64_t size = x->type.dims()[static_cast<std::size_t>(axis)];
  if (size < 2) return;
  const std::int64_t first = size % 16 == 0 && size > 16 ? 16 : m.between(1, size - 1);
  ir::Node* n = m.node("Split", {x, m.ints({first, size - first})}, 2, 13);
  n->attrs.set("axis", axis);
  m.finish(n);
}

void slice(NetworkMaker& m, Value* x, std::int64_t axis) {
  const std::int64_t size = x->type.dims()[static_cast<std::size_t>(axis)];
  const std::int64_t from = m.between(0, size - 1), to = m.between(from + 1, size);
  if (m.chance(25))
    return void(
        m.add("Slice", {x, m.ints({to - 1}), m.ints({from - size - 1}), m.ints({axis}), m.ints({-1})}));
  m.add("Slice", {x, m.ints({from}), m.ints({to}), m.ints({axis}), m.ints({m.between(1, 2)})});
}

void pad(NetworkMaker& m, Value* x) {
  const Dims d = x->type.dims();
  const std::string mode = m.pick({"constant", "edge", "reflect"});
  Dims pads(2 * d.size());
  for (std::size_t i = 0; i < pads.size(); ++i) pads[i] = std::min(m.between(0, 2), d[i % d.size()] - 1);
  std::vector<Value*> in = {x, m.ints(pads)};
  if (mode == "constant" && m.chance(50)) in.push_back(m.scalar(0.5));
  ir::Node* n = m.node("Pad", in, 1, 13);
  n->attrs.set("mode", mode);
  m.finish(n);
}

void expand(NetworkMaker& m, Value* x) {
  Dims to = x->type.dims();
  for (std::int64_t& d : to)
    if (d == 1) d = m.between(1, 4);
  if (m.chance(30) && to.size() < 5) to.insert(to.begin(), 2);
  m.add("Expand", {x, m.ints(to)});
}

void resize(NetworkMaker& m, Value* x) {
  Dims sizes = x->type.dims();
  if (sizes.size() < 3 || sizes.size() > 5) return;
  for (std::size_t i = 2; i < sizes.size(); ++i) sizes[i] = m.between(1, 12);
  ir::Node* n = m.node("Resize", {x, nullptr, nullptr, m.ints(sizes)}, 1, 13);
  n->attrs.set("mode", m.pick({"nearest", "linear"}));
  n->attrs.set("coordinate_transformation_mode", m.pick({"asymmetric", "half_pixel", "align_corners"}));
  if (n->attrs.get_string("mode", "") == "nearest")
    n->attrs.set("nearest_mode", m.pick({"floor", "round_prefer_floor"}));
  m.finish(n);
}

void rank_change(NetworkMaker& m, Value* x) {
  const Dims d = x->type.dims();
  Dims ones;
  for (std::int64_t i = 0; i < std::ssize(d); ++i)
    if (d[static_cast<std::size_t>(i)] == 1) ones.push_back(i);
  if (!ones.empty() && m.chance(50))
    m.add("Squeeze", {x, m.ints(ones)});
  else if (d.size() < 5)
    m.add("Unsqueeze", {x, m.ints({m.between(0, std::ssize(d))})});
  else
    m.add("Flatten", {x});
}

}  // namespace

void add_move_step(NetworkMaker& m) {
  Value* x = m.any([](const Dims& d) { return !d.empty() && d.size() <= 5; });
  if (x == nullptr) return;
  const Dims d = x->type.dims();
  const std::int64_t rank = std::ssize(d);
  const std::int64_t axis = rank >= 3 && m.chance(50) ? 1 : m.between(0, rank - 1);
  switch (m.between(0, 10)) {
    case 0:
      return transpose(m, x);
    case 1:
      return reshape(m, x);
    case 2:
      return concat(m, x, axis);
    case 3:
      return split(m, x, axis);
    case 4:
      return slice(m, x, axis);
    case 5:
      return pad(m, x);
    case 6:
      return expand(m, x);
    case 7: {
      Dims repeats(d.size());
      for (std::int64_t& r : repeats) r = m.between(1, 2);
      m.add("Tile", {x, m.ints(repeats)});
      return;
    }
    case 8: {
      ir::Node* n =
          m.node("Gather", {x, m.ints({m.between(0, d[static_cast<std::size_t>(axis)] - 1), -1, 0})});
      n->attrs.set("axis", axis);
      m.finish(n);
      return;
    }
    case 9:
      return resize(m, x);
    default:
      return rank_change(m, x);
  }
}

}  // namespace atc::runtime
