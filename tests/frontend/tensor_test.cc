// Initializers: every data field and element type.
#include <cstring>

#include "atc/base/half.h"
#include "matchers.h"
#include "model_builder.h"

namespace atc::frontend {
namespace {

StatusOr<Tensor> import_one(const onnx::TensorProto& proto) {
  ModelBuilder m;
  m.initializer(proto).output(proto.name());
  auto model = load(m);
  if (!model.ok()) return std::move(model).status();
  return Tensor(model->graph->outputs()[0]->constant());
}

std::vector<unsigned> raw_bytes(const Tensor& t) {
  std::vector<unsigned> out;
  for (const std::byte b : t.data.span()) out.push_back(std::to_integer<unsigned>(b));
  return out;
}

struct DTypeCase {
  DType dtype;
  std::vector<std::uint32_t> entries;  ///< of int32_data
  std::int64_t elements;
  std::vector<unsigned> bytes;  ///< expected memory
};

class Int32Data : public testing::TestWithParam<DTypeCase> {};

TEST_P(Int32Data, KeepsTheLowBits) {
  const DTypeCase& c = GetParam();
  auto proto = make_tensor("w", c.dtype, {c.elements});
  for (const auto e : c.entries) proto.add_int32_data(static_cast<std::int32_t>(e));
  const auto tensor = import_one(proto);
  ASSERT_TRUE(tensor.ok()) << tensor.status().to_string();
  EXPECT_EQ(tensor->dtype, c.dtype);
  EXPECT_EQ(tensor->shape, (Dims{c.elements}));
  EXPECT_EQ(raw_bytes(*tensor), c.bytes);
}

TEST_P(Int32Data, RawDataHoldsTheSameBytes) {
  const DTypeCase& c = GetParam();
  std::vector<std::uint8_t> bytes(c.bytes.begin(), c.bytes.end());
  const auto tensor = import_one(raw_tensor("w", c.dtype, {c.elements}, bytes));
  ASSERT_TRUE(tensor.ok()) << tensor.status().to_string();
  EXPECT_EQ(raw_bytes(*tensor), c.bytes);
}

INSTANTIATE_TEST_SUITE_P(
    DTypes, Int32Data,
    testing::Values(
        DTypeCase{DType::I32, {0xfffffffe, 0x01020304}, 2, {0xfe, 0xff, 0xff, 0xff, 4, 3, 2, 1}},
        DTypeCase{DType::U8, {255, 1}, 2, {255, 1}}, DTypeCase{DType::I8, {0xffffffff, 5}, 2, {255, 5}},
        DTypeCase{DType::U16, {0xffee}, 1, {0xee, 0xff}},
        DTypeCase{DType::I16, {0xfffffffe}, 1, {0xfe, 0xff}}, DTypeCase{DType::Bool, {1, 0, 1}, 3, {1, 0, 1}},
        DTypeCase{DType::F16, {0x3c00, 0xc000}, 2, {0, 0x3c, 0, 0xc0}},
        DTypeCase{DType::BF16, {0x3f80}, 1, {0x80, 0x3f}},
        DTypeCase{DType::F8E4M3FN, {0x38, 0xb8}, 2, {0x38, 0xb8}},
        DTypeCase{DType::F8E4M3FNUZ, {0x40}, 1, {0x40}}, DTypeCase{DType::F8E5M2, {0x3c}, 1, {0x3c}},
        DTypeCase{DType::F8E5M2FNUZ, {0x40}, 1, {0x40}}, DTypeCase{DType::F8E8M0, {127}, 1, {127}},
        DTypeCase{DType::U4, {0x21, 0x03}, 3, {0x21, 0x03}}, DTypeCase{DType::I4, {0xf8}, 2, {0xf8}},
        DTypeCase{DType::F4E2M1, {0x72}, 2, {0x72}}, DTypeCase{DType::U2, {0xe4, 0x01}, 5, {0xe4, 0x01}},
        DTypeCase{DType::I2, {0x1b}, 4, {0x1b}}),
    [](const auto& c) { return std::string(name(c.param.dtype)); });

TEST(Tensors, WideTypedFields) {
  auto f = make_tensor("w", DType::F32, {2});
  f.add_float_data(1.5f);
  f.add_float_data(-2.0f);
  auto tensor = import_one(f);
  ASSERT_TRUE(tensor.ok()) << tensor.status().to_string();
  EXPECT_THAT(tensor->as<float>(), testing::ElementsAre(1.5f, -2.0f));

  auto d = make_tensor("w", DType::F64, {});
  d.add_double_data(0.1);
  tensor = import_one(d);
  ASSERT_TRUE(tensor.ok()) << tensor.status().to_string();
  EXPECT_THAT(tensor->as<double>(), testing::ElementsAre(0.1));

  auto i = make_tensor("w", DType::I64, {1});
  i.add_int64_data(INT64_MIN);
  tensor = import_one(i);
  ASSERT_TRUE(tensor.ok());
  EXPECT_THAT(tensor->as<std::int64_t>(), testing::ElementsAre(INT64_MIN));

  auto u64 = make_tensor("w", DType::U64, {1});
  u64.add_uint64_data(UINT64_MAX);
  tensor = import_one(u64);
  ASSERT_TRUE(tensor.ok());
  EXPECT_THAT(tensor->as<std::uint64_t>(), testing::ElementsAre(UINT64_MAX));

  auto u32 = make_tensor("w", DType::U32, {2});
  u32.add_uint64_data(4000000000u);
  u32.add_uint64_data(7);
  tensor = import_one(u32);
  ASSERT_TRUE(tensor.ok());
  EXPECT_THAT(tensor->as<std::uint32_t>(), testing::ElementsAre(4000000000u, 7u));

  auto c64 = make_tensor("w", DType::C64, {1});
  c64.add_float_data(1);
  c64.add_float_data(2);
  tensor = import_one(c64);
  ASSERT_TRUE(tensor.ok());
  EXPECT_EQ(tensor->data.size(), 8u);

  auto c128 = make_tensor("w", DType::C128, {1});
  c128.add_double_data(1);
  c128.add_double_data(2);
  tensor = import_one(c128);
  ASSERT_TRUE(tensor.ok());
  EXPECT_EQ(tensor->data.size(), 16u);

  auto s = make_tensor("w", DType::String, {2});
  s.add_string_data("ab");
  s.add_string_data(std::string("\0c", 2));
  tensor = import_one(s);
  ASSERT_TRUE(tensor.ok());
  EXPECT_THAT(tensor->strings, testing::ElementsAre("ab", std::string("\0c", 2)));
}

TEST(Tensors, RawDataIsAViewOfTheFileAtAnyAddress) {
  for (std::size_t shift = 0; shift < 8; ++shift) {
    ModelBuilder m;
    m.proto.set_producer_name(std::string(shift, 'p'));
    m.initializer(raw_tensor<float>("w", DType::F32, {2, 1}, {1.0f, 2.0f})).output("w");
    const Bytes file = bytes_of(m.serialized());
    const auto model = import_model(file, {}, "m.onnx");
    ASSERT_LOADS(model);
    const Tensor& w = model->graph->outputs()[0]->constant();
    EXPECT_THAT(to_doubles(w), testing::ElementsAre(1.0, 2.0));
    const float values[] = {1.0f, 2.0f};
    const auto at = m.serialized().find(std::string(reinterpret_cast<const char*>(values), 8));
    EXPECT_EQ(w.data.data(), file.data() + at);
  }
}

TEST(Tensors, ConstantNodesHoldViewsToo) {
  ModelBuilder m;
  auto value = attribute("value", onnx::AttributeProto::TENSOR);
  *value.mutable_t() = raw_tensor<std::uint8_t>("", DType::U8, {3}, {7, 8, 9});
  m.node("Constant", {}, {"c"}, "k", {value}).output("c");
  const Bytes file = bytes_of(m.serialized());
  const auto model = import_model(file, {}, "m.onnx");
  ASSERT_LOADS(model);
  const ir::Node* node = find_node(*model->graph, "Constant");
  ASSERT_NE(node, nullptr);
  const Tensor* t = node->attrs.get_tensor("value");
  ASSERT_NE(t, nullptr);
  EXPECT_THAT(t->as<std::uint8_t>(), testing::ElementsAre(7, 8, 9));
  EXPECT_GE(t->data.data(), file.data());
  EXPECT_LT(t->data.data(), file.data() + file.size());
}

TEST(Tensors, BoolsAreZeroOrOne) {
  const auto tensor = import_one(raw_tensor<std::uint8_t>("w", DType::Bool, {3}, {0, 2, 255}));
  ASSERT_TRUE(tensor.ok());
  EXPECT_EQ(raw_bytes(*tensor), (std::vector<unsigned>{0, 1, 1}));
}

TEST(Tensors, ScalarsAndZeroSizes) {
  auto tensor = import_one(raw_tensor<float>("w", DType::F32, {}, {3.0f}));
  ASSERT_TRUE(tensor.ok());
  EXPECT_EQ(tensor->shape, Dims{});
  EXPECT_THAT(tensor->as<float>(), testing::ElementsAre(3.0f));
  tensor = import_one(make_tensor("w", DType::F32, {2, 0, 3}));
  ASSERT_TRUE(tensor.ok()) << tensor.status().to_string();
  EXPECT_EQ(tensor->shape, (Dims{2, 0, 3}));
  EXPECT_TRUE(tensor->data.empty());
  tensor = import_one(raw_tensor<float>("w", DType::I64, {0}, {}));
  ASSERT_TRUE(tensor.ok());
  tensor = import_one(make_tensor("w", DType::String, {0}));
  ASSERT_TRUE(tensor.ok());
}

TEST(Tensors, EmptyRawDataBesideATypedField) {
  auto proto = make_tensor("w", DType::F32, {1});
  proto.add_float_data(4.0f);
  proto.set_raw_data("");
  const auto tensor = import_one(proto);
  ASSERT_TRUE(tensor.ok()) << tensor.status().to_string();
  EXPECT_THAT(tensor->as<float>(), testing::ElementsAre(4.0f));
}

TEST(Tensors, Refusals) {
  expect_refused(import_one(make_tensor("w", DType::Undefined, {1})), "E10041", "'w'", "no element type");
  expect_refused(import_one(make_tensor("w", static_cast<DType>(99), {1})), "E10041", "'w'", "99");
  expect_refused(import_one(make_tensor("w", DType::F32, {2, -1})), "E10041", "'w'", "negative", "2,-1");
  expect_refused(import_one(make_tensor("w", DType::F32, {1ll << 40, 1ll << 40})), "E10041", "impossible");
  expect_refused(import_one(make_tensor("w", DType::F32, {1ll << 60})), "E10041", "impossible");
  expect_refused(import_one(make_tensor("w", DType::F32, {2})), "E10041", "'w'", "f32[2]", "no data");
  expect_refused(import_one(raw_tensor<float>("w", DType::F32, {2}, {1})), "E10041", "8 bytes", "has 4");
  expect_refused(import_one(raw_tensor<float>("w", DType::String, {2}, {1})), "E10041", "string_data");
  auto typed = make_tensor("w", DType::F32, {3});
  typed.add_float_data(1);
  expect_refused(import_one(typed), "E10041", "3 entries of float_data", "has 1");
  auto wrong = make_tensor("w", DType::I64, {1});
  wrong.add_int32_data(1);
  expect_refused(import_one(wrong), "E10041", "int32_data instead of int64_data");
  auto strings = make_tensor("w", DType::String, {2});
  strings.add_string_data("a");
  expect_refused(import_one(strings), "E10041", "2 strings", "has 1");
  auto segment = raw_tensor<float>("w", DType::F32, {1}, {1});
  segment.mutable_segment()->set_begin(0);
  expect_refused(import_one(segment), "E10041", "segment");
}

onnx::SparseTensorProto sparse(const onnx::TensorProto& values, const onnx::TensorProto& indices,
                               const Dims& dims) {
  onnx::SparseTensorProto s;
  *s.mutable_values() = values;
  *s.mutable_indices() = indices;
  for (const auto d : dims) s.add_dims(d);
  return s;
}

StatusOr<Tensor> import_sparse(const onnx::SparseTensorProto& proto) {
  ModelBuilder m;
  *m.graph()->add_sparse_initializer() = proto;
  m.output(proto.values().name());
  auto model = load(m);
  if (!model.ok()) return std::move(model).status();
  return Tensor(model->graph->outputs()[0]->constant());
}

TEST(SparseTensors, BecomeDense) {
  const auto values = raw_tensor<float>("s", DType::F32, {2}, {5.0f, 6.0f});
  auto tensor = import_sparse(sparse(values, raw_tensor<std::int64_t>("", DType::I64, {2}, {1, 5}), {2, 3}));
  ASSERT_TRUE(tensor.ok()) << tensor.status().to_string();
  EXPECT_EQ(tensor->shape, (Dims{2, 3}));
  EXPECT_THAT(tensor->as<float>(), testing::ElementsAre(0, 5, 0, 0, 0, 6));
  tensor =
      import_sparse(sparse(values, raw_tensor<std::int64_t>("", DType::I64, {2, 2}, {0, 1, 1, 2}), {2, 3}));
  ASSERT_TRUE(tensor.ok()) << tensor.status().to_string();
  EXPECT_THAT(tensor->as<float>(), testing::ElementsAre(0, 5, 0, 0, 0, 6));
  // Packed elements: 3 at 0 and 9 at 3.
  const auto nibbles = raw_tensor<std::uint8_t>("s", DType::U4, {2}, {0x93});
  tensor = import_sparse(sparse(nibbles, raw_tensor<std::int64_t>("", DType::I64, {2}, {0, 3}), {5}));
  ASSERT_TRUE(tensor.ok()) << tensor.status().to_string();
  EXPECT_EQ(raw_bytes(*tensor), (std::vector<unsigned>{0x03, 0x90, 0x00}));
  auto text = make_tensor("s", DType::String, {1});
  text.add_string_data("hi");
  tensor = import_sparse(sparse(text, raw_tensor<std::int64_t>("", DType::I64, {1}, {1}), {2}));
  ASSERT_TRUE(tensor.ok()) << tensor.status().to_string();
  EXPECT_THAT(tensor->strings, testing::ElementsAre("", "hi"));
}

TEST(SparseTensors, WithoutValuesAreZeros) {
  onnx::SparseTensorProto s;
  *s.mutable_values() = make_tensor("s", DType::F32, {0});
  s.add_dims(2);
  const auto tensor = import_sparse(s);
  ASSERT_TRUE(tensor.ok()) << tensor.status().to_string();
  EXPECT_THAT(tensor->as<float>(), testing::ElementsAre(0, 0));
}

TEST(SparseTensors, Refusals) {
  const auto values = raw_tensor<float>("s", DType::F32, {1}, {5.0f});
  const auto at = [](std::int64_t i) { return raw_tensor<std::int64_t>("", DType::I64, {1}, {i}); };
  expect_refused(import_sparse(sparse(values, at(6), {2, 3})), "E10041", "'s'", "index 0", "outside");
  expect_refused(import_sparse(sparse(values, at(-1), {2, 3})), "E10041", "outside");
  const auto pair = raw_tensor<std::int64_t>("", DType::I64, {1, 2}, {0, 3});
  expect_refused(import_sparse(sparse(values, pair, {2, 3})), "E10041", "outside");
  expect_refused(import_sparse(sparse(values, pair, {6})), "E10041", "indices must be");
  expect_refused(import_sparse(sparse(values, at(0), {1 << 20, 1 << 20})), "E10041", "1 GiB");
  expect_refused(import_sparse(sparse(values, at(0), {-2})), "E10041", "impossible");
  expect_refused(import_sparse(sparse(raw_tensor<float>("s", DType::F32, {1, 1}, {5}), at(0), {2})), "E10041",
                 "one axis");
  const auto narrow = raw_tensor<std::int32_t>("", DType::I32, {1}, {0});
  expect_refused(import_sparse(sparse(values, narrow, {2})), "E10041", "indices must be i64");
}

}  // namespace
}  // namespace atc::frontend
