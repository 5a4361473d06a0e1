#include <cmath>

#include "runtime/network_maker.h"

namespace atc::runtime {
namespace {

using ir::Value;

bool is_image(const Dims& d) { return d.size() >= 3 && d.size() <= 5; }

void matmul(NetworkMaker& m) {
  Value* a = m.any([](const Dims& d) { return !d.empty() && d.size() <= 4; });
  if (a == nullptr) return;
  const Dims d = a->type.dims();
  const std::int64_t k = d.back();
  const double scale = 2.0 / std::sqrt(static_cast<double>(k));
  switch (m.between(0, 4)) {
    case 0:  // by a vector
      m.add("MatMul", {a, m.constant({k}, scale)});
      break;
    case 1: {  // a batch of constants
      Dims b(d.begin(), d.end());
      if (b.size() < 2) b = {k, 3};
      b[b.size() - 2] = k;
      b.back() = m.between(1, 20);
      for (std::size_t i = 0; i + 2 < b.size(); ++i)
        if (m.chance(30)) b[i] = 1;
      if (b.size() < 4 && m.chance(20)) b.insert(b.begin(), m.between(1, 2));
      m.add("MatMul", {a, m.constant(b, scale)});
      break;
    }
    case 2: {  // both dynamic: x times its transpose
      if (d.size() < 2) {
        m.add("MatMul", {a, a});
        break;
      }
      Dims perm;
      for (std::int64_t i = 0; i < std::ssize(d); ++i) perm.push_back(i);
      std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
      ir::Node* t = m.node("Transpose", {a});
      t->attrs.set("perm", perm);
      Value* y = m.finish(t);
      m.add("MatMul", m.chance(50) ? std::vector<Value*>{a, y} : std::vector<Value*>{y, a});
      break;
    }
    default:
      m.add("MatMul", {a, m.constant({k, m.between(1, 40)}, scale)});
  }
}

void gemm(NetworkMaker& m) {
  Value* a = m.any([](const Dims& d) { return d.size() == 2; });
  if (a == nullptr) return;
  const Dims d = a->type.dims();
  const bool trans_a = m.chance(30), trans_b = m.chance(50);
  const std::int64_t rows = trans_a ? d[1] : d[0], k = trans_a ? d[0] : d[1], cols = m.between(1, 40);
  std::vector<Value*> in = {
      a, m.constant(trans_b ? Dims{cols, k} : Dims{k, cols}, 2.0 / std::sqrt(static_cast<double>(k)))};
  if (m.chance(80)) {
    const Dims shapes[] = {{cols}, {1, cols}, {rows, 1}, {rows, cols}, {1}, {}};
    const Dims& c = shapes[m.between(0, 5)];
    Value* bias = m.chance(20) ? m.any([&](const Dims& x) { return x == c; }) : nullptr;
    in.push_back(bias != nullptr ? bias : m.constant(c));
  }
  ir::Node* n = m.node("Gemm", in);
  if (trans_a) n->attrs.set("transA", std::int64_t{1});
  if (trans_b) n->attrs.set("transB", std::int64_t{1});
  if (m.chance(30)) n->attrs.set("alpha", 0.5F);
  if (m.chance(30)) n->attrs.set("beta", m.chance(20) ? 0.0F : -1.5F);
  m.finish(n);
}

// Sets random kernel-independent geometry; strides keep at least one output position.
void set_window(NetworkMaker& m, ir::Node& n, const Dims& dims, const Dims& kernel, bool dilate) {
  const std::size_t rank = kernel.size();
  Dims strides(rank), dilations(rank), pads(2 * rank);
  for (std::size_t i = 0; i < rank; ++i) {
    strides[i] = m.between(1, 3);
    // The window covers the data even without pads.
    dilations[i] = dilate && kernel[i] > 1
                       ? m.between(1, std::max<std::int64_t>(1, (dims[i + 2] - 1) / (kernel[i] - 1)))
                       : 1;
    if (dilations[i] > 2) dilations[i] = 2;
    pads[i] = m.between(0, kernel[i] - 1);
    pads[i + rank] = m.between(0, kernel[i] - 1);
  }
  if (m.chance(70)) n.attrs.set("strides", strides);
  if (dilate && m.chance(40)) n.attrs.set("dilations", dilations);
  if (m.chance(25))
    n.attrs.set("auto_pad", m.pick({"SAME_UPPER", "SAME_LOWER", "VALID"}));
  else if (m.chance(70))
    n.attrs.set("pads", pads);
}

Dims window_of(NetworkMaker& m, const Dims& dims) {
  Dims kernel;
  for (std::size_t i = 2; i < dims.size(); ++i)
    kernel.push_back(m.between(1, std::min<std::int64_t>(3, dims[i])));
  return kernel;
}

void convolution(NetworkMaker& m) {
  Value* x = m.any(is_image);
  if (x == nullptr) return;
  const Dims d = x->type.dims(), kernel = window_of(m, d);
  const std::int64_t channels = d[1];
  std::int64_t groups = 1;
  if (m.chance(50)) {
    groups = m.chance(50) ? channels : m.between(1, channels);
    while (channels % groups != 0) --groups;
  }
  const std::int64_t out_per_group =
      m.chance(40) && groups == channels ? 1 : m.between(1, groups == 1 ? 40 : 6);
  std::int64_t taps = channels / groups;
  for (const std::int64_t k : kernel) taps *= k;
  const double scale = 2.0 / std::sqrt(static_cast<double>(taps));
  const bool transposed = m.chance(25);
  Dims w = transposed ? Dims{channels, out_per_group} : Dims{groups * out_per_group, channels / groups};
  w.insert(w.end(), kernel.begin(), kernel.end());
  std::vector<Value*> in = {x, m.constant(w, scale)};
  const Dims c = {groups * out_per_group};
  if (m.chance(60)) in.push_back(m.constant(c));
  ir::Node* n = m.node(transposed ? "ConvTranspose" : "Conv", in);
  if (groups > 1) n->attrs.set("group", groups);
  if (m.chance(30)) n->attrs.set("kernel_shape", kernel);
  if (transposed) {
    Dims strides(kernel.size()), output_padding(kernel.size());
    for (std::size_t i = 0; i < kernel.size(); ++i) {
      strides[i] = m.between(1, 3);
      output_padding[i] = m.between(0, strides[i] - 1);
    }
    n->attrs.set("strides", strides);
    if (m.chance(40)) n->attrs.set("output_padding", output_padding);
    if (m.chance(30)) n->attrs.set("pads", Dims(2 * kernel.size(), 0));
  } else {
    set_window(m, *n, d, kernel, true);
  }
  Value* y = m.finish(n);
  if (m.chance(35))
    y = m.add("BatchNormalization", {y, m.positive(c), m.constant(c), m.constant(c), m.positive(c)});
  if (m.chance(50)) m.add(m.pick({"Relu", "Sigmoid", "HardSwish", "Tanh"}), {y});
}

void pool(NetworkMaker& m) {
  Value* x = m.any(is_image);
  if (x == nullptr) return;
  const Dims d = x->type.dims();
  if (m.chance(25)) return void(m.add(m.pick({"GlobalAveragePool", "GlobalMaxPool"}), {x}));
  const bool max = m.chance(50);
  const Dims kernel = window_of(m, d);
  ir::Node* n = m.node(max ? "MaxPool" : "AveragePool", {x}, 1, max ? 12 : 11);
  n->attrs.set("kernel_shape", kernel);
  set_window(m, *n, d, kernel, max);
  if (!n->attrs.has("auto_pad") && m.chance(30)) n->attrs.set("ceil_mode", std::int64_t{1});
  if (!max && m.chance(30)) n->attrs.set("count_include_pad", std::int64_t{1});
  m.finish(n);
}

}  // namespace

void add_cube_step(NetworkMaker& m) {
  const std::int64_t what = m.between(0, 9);
  if (what < 3)
    matmul(m);
  else if (what < 5)
    gemm(m);
  else if (what < 8)
    convolution(m);
  else
    pool(m);
}

}  // namespace atc::runtime
