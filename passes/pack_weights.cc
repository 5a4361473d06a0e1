#include "passes/pack_weights.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include "atc/base/check.h"
#include "atc/base/math.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

// Weights as O x I x taps with strides into the original tensor; groups of O read their own I.
struct WeightView {
  std::int64_t groups = 1, out = 1, in = 1, taps = 1;  // out, in: channels of one group
  std::int64_t out_stride = 0, in_stride = 0, tap_stride = 1, group_stride = 0;
};

// Channels of a pixel in NC1HWC0_C04, the input of weights in FRACTAL_Z_C04.
constexpr std::int64_t kSmallLanes = 4;

// Lanes of k in a fractal of the cube: the C0 of the data.
std::int64_t lanes_of(DType dtype) { return ir::c0_of(dtype); }

// Place of lane k of column n in a fractal: [16 k][16 n], of int8 [16][16 n][2 k].
std::int64_t place(std::int64_t k, std::int64_t n, std::int64_t lanes) {
  return lanes == 32 ? k / 2 * 32 + n * 2 + k % 2 : k * 16 + n;
}

// [groups][n1][k1][taps][fractal]; `join` original groups make one. Written in order, fractal by fractal.
template <class T>
void pack(const std::byte* src, const WeightView& v, std::int64_t join, std::span<std::byte> packed) {
  const std::int64_t out = v.out * join, in = v.in * join;
  const std::int64_t lanes = static_cast<std::int64_t>(512 / (16 * sizeof(T))) == 32 ? 32 : 16;
  const std::int64_t n1 = ceil_div(out, 16), k1 = ceil_div(in, lanes);
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(T));
  if (join > 1 || out % 16 != 0 || in % lanes != 0) std::memset(packed.data(), 0, packed.size());
  T* fractal = reinterpret_cast<T*>(packed.data());
  // Columns [o, o + columns) and lanes [i, i + depth) of original group g, at column n and lane k of
  // `fractal`.
  const auto copy = [&](std::int64_t g, std::int64_t o, std::int64_t columns, std::int64_t i,
                        std::int64_t depth, std::int64_t tap, std::int64_t n, std::int64_t k) {
    // The source is a view of the model, at any address.
    const std::byte* s =
        src + (g * v.group_stride + o * v.out_stride + i * v.in_stride + tap * v.tap_stride) * kBytes;
    const std::int64_t down = v.in_stride * kBytes, right = v.out_stride * kBytes;
    if (lanes == 16 && right == kBytes && columns == 16) {
      for (std::int64_t a = 0; a < depth; ++a)
        std::memcpy(fractal + (k + a) * 16, s + a * down, 16 * sizeof(T));
      return;
    }
    for (std::int64_t a = 0; a < depth; ++a)
      for (std::int64_t b = 0; b < columns; ++b)
        std::memcpy(fractal + place(k + a, n + b, lanes), s + a * down + b * right, sizeof(T));
  };
  for (std::int64_t g = 0; g < v.groups; g += join)
    for (std::int64_t p = 0; p < n1; ++p)
      for (std::int64_t q = 0; q < k1; ++q)
        for (std::int64_t t = 0; t < v.taps; ++t, fractal += lanes * 16)
          for (std::int64_t j = 0; j < std::min(join, v.groups - g); ++j) {
            const std::int64_t o0 = std::max(p * 16, j * v.out), o1 = std::min(p * 16 + 16, (j + 1) * v.out);
            const std::int64_t i0 = std::max(q * lanes, j * v.in),
                               i1 = std::min((q + 1) * lanes, (j + 1) * v.in);
            if (o0 < o1 && i0 < i1)
              copy(g + j, o0 - j * v.out, o1 - o0, i0 - j * v.in, i1 - i0, t, o0 - p * 16, i0 - q * lanes);
          }
}

// [n1][depth][fractal]: taps of one depth side by side, four lanes of k each. Of one group.
template <class T>
void pack_small(const std::byte* src, const WeightView& v, std::int64_t depths, std::span<std::byte> packed) {
  const std::int64_t lanes = static_cast<std::int64_t>(512 / (16 * sizeof(T))) == 32 ? 32 : 16;
  const std::int64_t per = lanes / kSmallLanes, plane = v.taps / depths, fractals = ceil_div(plane, per);
  std::memset(packed.data(), 0, packed.size());
  T* to = reinterpret_cast<T*>(packed.data());
  for (std::int64_t o = 0; o < v.out; ++o)
    for (std::int64_t i = 0; i < v.in; ++i)
      for (std::int64_t t = 0; t < v.taps; ++t) {
        const std::int64_t tap = t % plane, fractal = (o / 16 * depths + t / plane) * fractals + tap / per;
        std::memcpy(to + fractal * lanes * 16 + place(tap % per * kSmallLanes + i, o % 16, lanes),
                    src + (o * v.out_stride + i * v.in_stride + t * v.tap_stride) *
                              static_cast<std::int64_t>(sizeof(T)),
                    sizeof(T));
      }
}

Tensor pack_small(const Tensor& src, const WeightView& v, std::int64_t depths) {
  const std::int64_t lanes = lanes_of(src.dtype);
  const std::int64_t fractals = depths * ceil_div(v.taps / depths, lanes / kSmallLanes);
  Tensor packed{src.dtype, {ceil_div(v.out, std::int64_t{16}), fractals, 16, lanes}, {}, {}};
  packed.data = Bytes::deferred(packed.byte_size(), [data = src.data, bits = bit_width(src.dtype), v,
                                                     depths](std::span<std::byte> out) {
    const Bytes at_hand = data.resolved();
    switch (bits) {
      case 8:
        return pack_small<std::uint8_t>(at_hand.data(), v, depths, out);
      case 16:
        return pack_small<std::uint16_t>(at_hand.data(), v, depths, out);
      default:
        return pack_small<std::uint32_t>(at_hand.data(), v, depths, out);
    }
  });
  return packed;
}

Tensor pack_any(const Tensor& src, const WeightView& v, std::int64_t join) {
  const std::int64_t lanes = lanes_of(src.dtype);
  Tensor packed{src.dtype,
                {ceil_div(v.groups, join) * ceil_div(v.out * join, 16), ceil_div(v.in * join, lanes) * v.taps,
                 16, lanes},
                {},
                {}};
  packed.data = Bytes::deferred(
      packed.byte_size(), [data = src.data, bits = bit_width(src.dtype), v, join](std::span<std::byte> out) {
        const Bytes at_hand = data.resolved();
        switch (bits) {
          case 8:
            return pack<std::uint8_t>(at_hand.data(), v, join, out);
          case 16:
            return pack<std::uint16_t>(at_hand.data(), v, join, out);
          default:
            return pack<std::uint32_t>(at_hand.data(), v, join, out);
        }
      });
  return packed;
}

class Packer {
 public:
  explicit Packer(Graph& graph) : graph_(graph) {}

  int run() {
    for (Node* n : graph_.node_list()) {
      if (n->domain != "atc") continue;
      if (n->op_type == "Conv" || n->op_type == "ConvTranspose") convolution(*n);
      if (n->op_type == "MatMul") matmul(*n);
      if (n->op_type == "DepthwiseConv") depthwise(*n);
    }
    return changes_;
  }

 private:
  enum class Form { Conv, SmallConv, TransposedConv, MatMul, TransposedMatMul, Depthwise };

  // Equal weights in equal forms are stored once; a form differs with the number of groups.
  template <class F>
  void replace(Node& n, Form form, const WeightView& v, std::int64_t lanes, const Dims& logical,
               ir::Format format, F make) {
    Value* w = n.input(1);
    Value*& packed = packed_[{w, form, v.groups}];
    if (packed == nullptr && !w->is_constant()) {
      packed = packing(n, w, v, lanes, logical, format);
      ++changes_;
    }
    if (packed == nullptr) {
      packed = graph_.add_constant(w->name(), make(w->constant()), format);
      packed->type = ir::tensor_type(w->type.dtype, logical, format);
      ++changes_;
    }
    n.set_input(1, packed);
  }

  // Weights that are computed are packed when they are: the same order, by a copy.
  Value* packing(Node& n, Value* w, const WeightView& v, std::int64_t lanes, const Dims& logical,
                 ir::Format format) {
    Node* t = graph_.add_node("TransData", {w}, 1, &n, "atc", 0);
    t->name = n.name + "/pack_weights";
    t->sources = n.sources;
    t->attrs.set("packing",
                 Dims{v.groups, v.out, v.in, v.taps, v.out_stride, v.in_stride, v.group_stride, lanes});
    t->attrs.set("shape", logical);
    t->output(0)->type = ir::tensor_type(w->type.dtype, logical, format);
    return t->output(0);
  }

  void convolution(Node& n) {
    const Value* w = n.input(1);
    if (w->type.format != ir::Format::ND) return;
    const Dims d = w->type.dims();
    const bool transposed = n.op_type == "ConvTranspose";
    WeightView v;
    v.groups = n.attrs.get_int("group", 1);
    for (std::size_t i = 2; i < d.size(); ++i) v.taps *= d[i];
    if (transposed) {
      v.out = d[1];
      v.in = d[0] / v.groups;
      v.out_stride = v.taps;
      v.in_stride = d[1] * v.taps;
      v.group_stride = v.in * v.in_stride;
    } else {
      v.out = d[0] / v.groups;
      v.in = d[1];
      v.out_stride = d[1] * v.taps;
      v.in_stride = v.taps;
      v.group_stride = v.out * v.out_stride;
    }
    if (n.input(0)->type.format == ir::Format::NC1HWC0_C04) {
      ATC_CHECK(!transposed && v.groups == 1 && v.in <= kSmallLanes && w->is_constant(),
                n.label() + " reads blocks of four channels");
      const std::int64_t depths = d.size() == 5 ? d[2] : 1;
      return replace(n, Form::SmallConv, v, lanes_of(w->type.dtype), d, ir::Format::FRACTAL_Z_C04,
                     [&](const Tensor& t) { return pack_small(t, v, depths); });
    }
    const std::int64_t join = joined_groups(v, lanes_of(w->type.dtype));
    ATC_CHECK(w->is_constant() || join == 1, "computed weights of groups narrower than a block");
    n.attrs.set("group", ceil_div(v.groups, join));
    Dims logical = d;
    logical[0] = v.groups * v.out;
    logical[1] = v.in * join;
    replace(n, transposed ? Form::TransposedConv : Form::Conv, v, lanes_of(w->type.dtype), logical,
            ir::Format::FRACTAL_Z, [&](const Tensor& t) { return pack_any(t, v, join); });
  }

  // Fewest groups to join so that inputs and outputs of a joined group fill C0 blocks; all where none do. Of
  // the last ones there may be fewer, if they have as many blocks: their weights end with zeros.
  static std::int64_t joined_groups(const WeightView& v, std::int64_t c0) {
    if (v.groups == 1) return 1;
    for (std::int64_t j = 1; j < v.groups; ++j) {
      if (v.in * j % c0 != 0 || v.out * j % c0 != 0) continue;
      const std::int64_t rest = v.groups % j;
      const auto as_many = [&](std::int64_t channels) {
        return ceil_div(channels * rest, c0) == channels * j / c0;
      };
      if (rest == 0 || (as_many(v.in) && as_many(v.out))) return j;
    }
    return v.groups;
  }

  void matmul(Node& n) {
    Value* b = n.input(1);
    if (!b->is_constant() || b->type.format != ir::Format::ND) return;
    const Dims d = b->type.dims();
    if (element_count(Dims(d.begin(), d.end() - 2)) != 1) return;
    const bool transposed = n.attrs.get_int("trans_b", 0) != 0;
    WeightView v;
    v.in = transposed ? d.back() : d[d.size() - 2];
    v.out = transposed ? d[d.size() - 2] : d.back();
    v.in_stride = transposed ? 1 : v.out;
    v.out_stride = transposed ? v.in : 1;
    n.attrs.erase("trans_b");
    replace(n, transposed ? Form::TransposedMatMul : Form::MatMul, v, lanes_of(b->type.dtype), {v.out, v.in},
            ir::Format::FRACTAL_Z, [&](const Tensor& t) { return pack_any(t, v, 1); });
  }

  void depthwise(Node& n) {
    const Value* w = n.input(1);
    const Dims d = w->type.dims();
    if (n.attrs.has("kernel_shape")) return;
    n.attrs.set("kernel_shape", Dims(d.begin() + 2, d.end()));
    const std::int64_t taps = element_count(Dims(d.begin() + 2, d.end())), c1 = ceil_div(d[0], 16);
    WeightView v;
    v.out = d[0];
    v.taps = v.out_stride = taps;
    replace(n, Form::Depthwise, v, 1, {c1, taps, 16}, ir::Format::ND, [&](const Tensor& t) {
      MutableTensor packed(t.dtype, {c1, taps, 16});
      const std::size_t e = static_cast<std::size_t>(bit_width(t.dtype) / 8);
      for (std::int64_t c = 0; c < d[0]; ++c)
        for (std::int64_t k = 0; k < taps; ++k)
          std::memcpy(packed.bytes().data() + static_cast<std::size_t>((c / 16 * taps + k) * 16 + c % 16) * e,
                      t.data.data() + static_cast<std::size_t>(c * taps + k) * e, e);
      return std::move(packed).freeze();
    });
  }

  Graph& graph_;
  int changes_ = 0;
  std::map<std::tuple<const Value*, Form, std::int64_t>, Value*> packed_;
};

StatusOr<int> run(Graph& graph, PassContext&) { return Packer(graph).run(); }

}  // namespace

Pass pack_weights_pass() {
  return {"pack-weights", "", "constant operands take the form the cube reads", run};
}

}  // namespace atc::passes
