#include "runtime/tensor_io.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "atc/base/file.h"
#include "runtime/npy.h"
#include "runtime/random_input.h"
#include "runtime/tensor_proto.h"

namespace atc::runtime {
namespace {

namespace fs = std::filesystem;

class TensorIo : public testing::Test {
 protected:
  void SetUp() override {
    dir_ = fs::temp_directory_path() / ("tensor_io_" + std::to_string(getpid()));
    fs::create_directories(dir_);
  }
  void TearDown() override { fs::remove_all(dir_); }
  void put(const std::string& name, std::string_view bytes) {
    std::ofstream(dir_ / name, std::ios::binary) << bytes;
  }
  fs::path dir_;
};

Bytes bytes_of(std::string_view text) { return Bytes::copy_of(std::as_bytes(std::span(text))); }

std::string text_of(const Bytes& b) { return {reinterpret_cast<const char*>(b.data()), b.size()}; }

std::vector<DType> all_dtypes() {
  std::vector<DType> all;
  for (int i = 1; i < kDTypeCount; ++i) all.push_back(static_cast<DType>(i));
  return all;
}

Tensor strings(std::vector<std::string> values) {
  Tensor t;
  t.dtype = DType::String;
  t.shape = {static_cast<std::int64_t>(values.size())};
  t.strings = std::move(values);
  return t;
}

TEST_F(TensorIo, RoundTripsEveryDtypeInEveryForm) {
  for (const DType dtype : all_dtypes()) {
    if (dtype == DType::String) continue;
    for (const Dims& shape : {Dims{}, Dims{3}, Dims{2, 3, 5}, Dims{2, 0, 4}}) {
      const TensorSpec spec{"x", dtype, shape};
      const Tensor t = random_tensor(spec, 7, 0);
      for (const TensorFormat format : {TensorFormat::Bin, TensorFormat::Npy, TensorFormat::Pb}) {
        const fs::path path = dir_ / ("t" + std::string(extension(format)));
        // A 4-bit float has no NumPy form but f32.
        if (format == TensorFormat::Npy && bit_width(dtype) < 8 && is_float(dtype)) continue;
        ASSERT_TRUE(write_tensor(path, format, "x", t).ok());
        const StatusOr<Tensor> back = read_tensor(path, spec);
        ASSERT_TRUE(back.ok()) << name(dtype) << ' ' << to_string(shape) << ' ' << back.status().to_string();
        EXPECT_EQ(back.value().dtype, dtype);
        EXPECT_EQ(back.value().shape, shape);
        EXPECT_EQ(text_of(back.value().data), text_of(t.data)) << name(dtype) << extension(format);
      }
    }
  }
}

TEST_F(TensorIo, RoundTripsStringsAsPb) {
  const Tensor t = strings({"a", "", "long string"});
  ASSERT_TRUE(write_tensor(dir_ / "s.pb", TensorFormat::Pb, "s", t).ok());
  const StatusOr<Tensor> back = read_tensor(dir_ / "s.pb", {"s", DType::String, {3}});
  ASSERT_TRUE(back.ok()) << back.status().to_string();
  EXPECT_EQ(back.value().strings, t.strings);
  EXPECT_EQ(write_tensor(dir_ / "s.npy", TensorFormat::Npy, "s", t).diagnostic().code, "E10055");
  EXPECT_EQ(write_tensor(dir_ / "s.bin", TensorFormat::Bin, "s", t).diagnostic().code, "E10055");
}

TEST_F(TensorIo, TextHasOneLineForEachRow) {
  EXPECT_EQ(to_text(from_doubles(DType::F32, {2, 3}, std::vector<double>{1, 0.1, -2, 1e10, 0, 3})),
            "1 0.1 -2\n1e+10 0 3\n");
  EXPECT_EQ(to_text(from_doubles(DType::F16, {2}, std::vector<double>{0.5, -1})), "0.5 -1\n");
  EXPECT_EQ(to_text(from_int64s(DType::I4, {3}, std::vector<std::int64_t>{-8, 7, 0})), "-8 7 0\n");
  EXPECT_EQ(to_text(from_int64s(DType::U64, {1}, std::vector<std::int64_t>{-1})), "18446744073709551615\n");
  EXPECT_EQ(to_text(from_doubles(DType::F32, {}, std::vector<double>{2})), "2\n");
  EXPECT_EQ(to_text(from_doubles(DType::F32, {2, 0}, std::vector<double>{})), "");
  EXPECT_EQ(to_text(strings({"a", "b"})), "a b\n");
}

TEST_F(TensorIo, RefusesWhatTheInputDoesNotTake) {
  const TensorSpec spec{"data", DType::F32, {2, 3}};
  put("short.bin", std::string(23, 'x'));
  const StatusOr<Tensor> size = read_tensor(dir_ / "short.bin", spec);
  ASSERT_FALSE(size.ok());
  EXPECT_EQ(size.status().diagnostic().code, "E13025");
  for (const char* word : {"'data'", "FLOAT[2,3]", "23", "24"})
    EXPECT_NE(size.status().to_string().find(word), std::string::npos) << size.status().to_string();
  ASSERT_EQ(size.status().diagnostic().context.size(), 1U);
  EXPECT_NE(size.status().diagnostic().context[0].find("short.bin"), std::string::npos);

  ASSERT_TRUE(
      write_tensor(dir_ / "i.npy", TensorFormat::Npy, "", random_tensor({"", DType::I32, {2, 3}}, 0, 0))
          .ok());
  EXPECT_EQ(read_tensor(dir_ / "i.npy", spec).status().diagnostic().code, "E13025");
  ASSERT_TRUE(
      write_tensor(dir_ / "t.pb", TensorFormat::Pb, "", random_tensor({"", DType::F32, {3, 2}}, 0, 0)).ok());
  EXPECT_EQ(read_tensor(dir_ / "t.pb", spec).status().diagnostic().code, "E13025");
  EXPECT_FALSE(read_tensor(dir_ / "missing.npy", spec).ok());
}

// Written by hand from onnx.proto, independent of the encoder.
TEST(TensorProto, ReadsTypedFields) {
  // dims: 2 (unpacked), data_type: INT8, int32_data packed: 1, -1
  const std::string ten_byte_minus_one("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10);
  auto t = decode_tensor_proto(bytes_of(std::string("\x08\x02\x10\x03\x2a\x0b\x01", 7) + ten_byte_minus_one));
  ASSERT_TRUE(t.ok()) << t.status().to_string();
  EXPECT_EQ(to_int64s(t.value().tensor), (std::vector<std::int64_t>{1, -1}));
  // scalar float, unpacked float_data 1.5, name "n"
  t = decode_tensor_proto(bytes_of(std::string("\x10\x01\x25\x00\x00\xc0\x3f\x42\x01n", 10)));
  ASSERT_TRUE(t.ok()) << t.status().to_string();
  EXPECT_EQ(t.value().name, "n");
  EXPECT_EQ(to_doubles(t.value().tensor), std::vector<double>{1.5});
  // dims packed 1,3; data_type FLOAT16; int32_data 0x3c00 three times, unpacked
  t = decode_tensor_proto(
      bytes_of(std::string("\x0a\x02\x01\x03\x10\x0a\x28\x80\x78\x28\x80\x78\x28\x80\x78", 15)));
  ASSERT_TRUE(t.ok()) << t.status().to_string();
  EXPECT_EQ(t.value().tensor.shape, (Dims{1, 3}));
  EXPECT_EQ(to_doubles(t.value().tensor), (std::vector<double>{1, 1, 1}));
  // three 4-bit integers in two int32_data entries (one byte each)
  t = decode_tensor_proto(bytes_of(std::string("\x08\x03\x10\x16\x2a\x03\xf1\x01\x07", 9)));
  ASSERT_TRUE(t.ok()) << t.status().to_string();
  EXPECT_EQ(to_int64s(t.value().tensor), (std::vector<std::int64_t>{1, -1, 7}));
  // uint64_data, double_data
  t = decode_tensor_proto(bytes_of(std::string("\x10\x0d\x58\x05", 4)));
  ASSERT_TRUE(t.ok()) << t.status().to_string();
  EXPECT_EQ(to_int64s(t.value().tensor), std::vector<std::int64_t>{5});
  t = decode_tensor_proto(bytes_of(std::string("\x10\x0b\x51\x00\x00\x00\x00\x00\x00\xf8\x3f", 11)));
  ASSERT_TRUE(t.ok()) << t.status().to_string();
  EXPECT_EQ(to_doubles(t.value().tensor), std::vector<double>{1.5});
}

TEST(TensorProto, RefusesWhatIsNoWholeTensor) {
  for (const std::string& bad : {
           std::string(),                                        // no element type
           std::string("\x10\x63", 2),                           // element type 99
           std::string("\x08\x02\x10\x01\x25\x00\x00\xc0\x3f"),  // cut off or one value for two
           std::string("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x10\x01", 13),  // dim -1
           // 2^40 x 2^40 elements
           std::string("\x08\x80\x80\x80\x80\x80\x20\x08\x80\x80\x80\x80\x80\x20\x10\x01", 16),
           std::string("\x10\x01\x1a\x00", 4),              // segment
           std::string("\x10\x01\x70\x01", 4),              // external
           std::string("\x10\x01\x4a\x03\x01\x02\x03", 7),  // three raw bytes for a float
       }) {
    const auto t = decode_tensor_proto(bytes_of(bad));
    ASSERT_FALSE(t.ok());
    EXPECT_EQ(t.status().diagnostic().code, "E13005");
  }
}

std::string npy(const std::string& dict, const std::string& data, char major = '\1') {
  std::string out = std::string("\x93NUMPY") + major + '\0';
  for (int i = 0; i < (major == '\1' ? 2 : 4); ++i) out.push_back(static_cast<char>(dict.size() >> (8 * i)));
  return out + dict + data;
}

TEST(Npy, ReadsWhatNumPyWrites) {
  auto t = decode_npy(bytes_of(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }   \n",
                                   std::string("\x00\x00\x80\x3f\x00\x00\x00\x40", 8))),
                      DType::F32);
  ASSERT_TRUE(t.ok()) << t.status().to_string();
  EXPECT_EQ(to_doubles(t.value()), (std::vector<double>{1, 2}));
  t = decode_npy(bytes_of(npy("{'descr': '>i2', 'fortran_order': False, 'shape': (1, 2), }\n",
                              std::string("\x01\x02\xff\xfe", 4), '\2')),
                 DType::I16);
  ASSERT_TRUE(t.ok()) << t.status().to_string();
  EXPECT_EQ(t.value().shape, (Dims{1, 2}));
  EXPECT_EQ(to_int64s(t.value()), (std::vector<std::int64_t>{258, -2}));
  t = decode_npy(bytes_of(npy("{\"shape\": (), \"fortran_order\": False, \"descr\": \"|V2\"}", "\x80\x3f")),
                 DType::BF16);
  ASSERT_TRUE(t.ok()) << t.status().to_string();
  EXPECT_EQ(to_doubles(t.value()), std::vector<double>{1});
}

TEST(Npy, RefusesWithAReason) {
  const std::string four(4, '\0');
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "NUMPY"},
      {npy("{'descr': '<f4', 'fortran_order': True, 'shape': (1,1)}", four), "Fortran"},
      {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", four), "does not fit"},
      {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", four), "dictionary"},
      {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296,4294967296)}", four),
       "does not fit"},
      {npy("{'descr': '<f4', 'shape': (1,)}", four), "dictionary"},
      {npy("{'descr': '<U4', 'fortran_order': False, 'shape': (1,)}", four), "'<U4'"},
      {npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", four), "dictionary"},
      {npy("{'descr': '<f4'", four, '\7'), "version 7"},
      {std::string("\x93NUMPY\1\0\xff\xff{", 11), "cut off"},
  };
  for (const auto& [file, word] : cases) {
    const auto t = decode_npy(bytes_of(file), DType::F32);
    ASSERT_FALSE(t.ok()) << word;
    EXPECT_EQ(t.status().diagnostic().code, "E13005");
    EXPECT_NE(t.status().to_string().find(word), std::string::npos) << t.status().to_string();
  }
}

TEST(Npy, HeaderIsAlignedAndWide) {
  for (const Dims& shape : {Dims{}, Dims{5}, Dims(30000, 1)}) {
    const Tensor t = random_tensor({"", DType::F32, shape}, 1, 1);
    const StatusOr<std::string> head = encode_npy_head(t);
    ASSERT_TRUE(head.ok());
    EXPECT_EQ(head.value().size() % 64, 0U);
    EXPECT_EQ(head.value()[6], shape.size() > 1000 ? '\2' : '\1');
    const auto back = decode_npy(bytes_of(head.value() + text_of(t.data)), DType::F32);
    ASSERT_TRUE(back.ok()) << back.status().to_string();
    EXPECT_EQ(back.value().shape, shape);
  }
}

// Bytes of a valid file changed, cut and repeated at random: never a crash, and what is accepted is a
// consistent tensor.
TEST(TensorFuzz, SurvivesMutations) {
  std::mt19937 random(20240607);
  std::vector<std::string> seeds;
  for (const DType dtype : {DType::F32, DType::I64, DType::U4, DType::F16}) {
    const Tensor t = random_tensor({"x", dtype, {2, 3}}, 3, 0);
    seeds.push_back(encode_tensor_proto_head("x", t) + text_of(t.data));
    seeds.push_back(encode_npy_head(t).value() + text_of(npy_form(t).data));
  }
  seeds.push_back(std::string("\x08\x03\x10\x16\x2a\x03\xf1\x01\x07", 9));
  for (int round = 0; round < 40000; ++round) {
    std::string file = seeds[random() % seeds.size()];
    for (unsigned n = random() % 4 + 1; n > 0 && !file.empty(); --n) switch (random() % 4) {
        case 0:
          file[random() % file.size()] = static_cast<char>(random());
          break;
        case 1:
          file.resize(random() % file.size());
          break;
        case 2:
          file.insert(random() % file.size(), file.substr(random() % file.size(), random() % 8));
          break;
        default:
          file[random() % file.size()] ^= static_cast<char>(1U << random() % 8);
      }
    const Bytes bytes = bytes_of(file);
    const auto check = [](const Tensor& t) {
      ASSERT_GE(t.count(), 0);
      if (t.dtype == DType::String)
        ASSERT_EQ(static_cast<std::int64_t>(t.strings.size()), t.count());
      else
        ASSERT_EQ(t.data.size(), t.byte_size());
    };
    if (const auto t = decode_tensor_proto(bytes); t.ok()) check(t.value().tensor);
    if (const auto t = decode_npy(bytes, DType::U4); t.ok()) check(t.value());
  }
}

TEST(RandomInput, IsReproducibleAndInRange) {
  const TensorSpec spec{"x", DType::F32, {1000}};
  const Tensor a = random_tensor(spec, 5, 0);
  EXPECT_EQ(text_of(a.data), text_of(random_tensor(spec, 5, 0).data));
  EXPECT_NE(text_of(a.data), text_of(random_tensor(spec, 6, 0).data));
  EXPECT_NE(text_of(a.data), text_of(random_tensor(spec, 5, 1).data));
  double low = 0, high = 0;
  for (const double v : to_doubles(a)) {
    low = std::min(low, v);
    high = std::max(high, v);
  }
  EXPECT_GE(low, -1);
  EXPECT_LT(low, -0.9);
  EXPECT_LT(high, 1);
  EXPECT_GT(high, 0.9);
  for (const DType dtype : {DType::I64, DType::U8, DType::I4, DType::U2, DType::Bool}) {
    std::int64_t top = 0;
    for (const std::int64_t v : to_int64s(random_tensor({"", dtype, {500}}, 1, 0))) {
      EXPECT_GE(v, 0);
      top = std::max(top, v);
    }
    EXPECT_EQ(top, dtype == DType::Bool ? 1 : dtype == DType::U2 ? 3 : dtype == DType::I4 ? 7 : 9);
  }
}

}  // namespace
}  // namespace atc::runtime
