#include "driver/input_shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driver/gears.h"

namespace atc::driver {
namespace {

std::string code_of(std::string_view text) {
  const auto parsed = parse_input_shape(text);
  return parsed.ok() ? "" : parsed.status().diagnostic().code;
}

TEST(InputShape, StaticShapes) {
  const auto parsed = parse_input_shape("input:1,3,224,224;  a:b/c:0:8 , 2;\n s:;");
  ASSERT_TRUE(parsed.ok()) << parsed.status().to_string();
  ASSERT_EQ((*parsed).size(), 3U);
  EXPECT_EQ((*parsed)[0].name, "input");
  EXPECT_EQ((*parsed)[0].static_dims(), (Dims{1, 3, 224, 224}));
  EXPECT_EQ((*parsed)[1].name, "a:b/c:0");  // the last colon counts
  EXPECT_EQ((*parsed)[1].static_dims(), (Dims{8, 2}));
  EXPECT_EQ((*parsed)[2].name, "s");
  EXPECT_TRUE((*parsed)[2].is_static());
  EXPECT_EQ((*parsed)[2].static_dims(), Dims{});
}

TEST(InputShape, OpenDims) {
  const auto parsed = parse_input_shape("x:[-1,3,64~128,2~-1]");
  ASSERT_TRUE(parsed.ok());
  const auto& dims = (*parsed)[0].dims;
  ASSERT_EQ(dims.size(), 4U);
  EXPECT_TRUE(dims[0].is_any());
  EXPECT_TRUE(dims[1].is_static());
  EXPECT_EQ(dims[2], (DimBound{64, 128}));
  EXPECT_EQ(dims[3], (DimBound{2, DimBound::kUnbounded}));
  EXPECT_FALSE((*parsed)[0].is_static());
}

TEST(InputShape, Mistakes) {
  for (const char* text :
       {"input", "input 1,3", ":1,2", "x:1,,2", "x:1,", "x:1.5,2", "x:a", "x:1;;y:2", "x:1;x:2",
        "x:1,3,224,224--output=y", "x:[1,2", "x:1,2]", "x:5~2", "x:1-2", "", ";", "x:~5", "x:--1"})
    EXPECT_EQ(code_of(text), "E10002") << text;
  for (const char* text : {"x:0", "x:1,-2", "x:0~4", "x:3~0"}) EXPECT_EQ(code_of(text), "E10011") << text;
  for (const char* text : {"x:99999999999999999999", "x:4294967296,4294967296", "x:1~99999999999999999999"})
    EXPECT_EQ(code_of(text), "E10013") << text;
}

TEST(InputShape, MessagesShowTheEntryAndTheForm) {
  const auto parsed = parse_input_shape("a:1;b:1,2.5");
  const std::string& message = parsed.status().diagnostic().message;
  EXPECT_NE(message.find("Value b:1,2.5 for parameter --input_shape is invalid."), std::string::npos);
  EXPECT_NE(message.find("'2.5' is a floating-point number"), std::string::npos);
  EXPECT_NE(message.find("input_name1:n1,c1,h1,w1"), std::string::npos);
}

TEST(InputShapeRange, NeedsBrackets) {
  EXPECT_TRUE(parse_input_shape_range("x:[1~8,3,-1];y:[2]").ok());
  for (const char* text : {"x:1,3", "x:[1", "x", "x:[0]"})
    EXPECT_EQ(parse_input_shape_range(text).status().diagnostic().code, "E10048") << text;
}

std::string gear_code(GearKind kind, std::string_view text, std::string_view shapes,
                      std::string_view format) {
  const auto gears = parse_gears(kind, text);
  if (!gears.ok()) return gears.status().diagnostic().code;
  const auto parsed = parse_input_shape(shapes);
  EXPECT_TRUE(parsed.ok());
  const Status status = check_gears(*gears, *parsed, format);
  return status.ok() ? "" : status.diagnostic().code;
}

TEST(Gears, Values) {
  const auto dims = parse_gears(GearKind::Dims, "1,2; 3,4;");
  ASSERT_TRUE(dims.ok());
  EXPECT_THAT((*dims).values, ::testing::ElementsAre(Dims{1, 2}, Dims{3, 4}));
  const auto batch = parse_gears(GearKind::Batch, "1,8");
  ASSERT_TRUE(batch.ok());
  EXPECT_THAT((*batch).values, ::testing::ElementsAre(Dims{1}, Dims{8}));
}

TEST(Gears, Batch) {
  const auto code = [](std::string_view text, std::string_view shapes) {
    return gear_code(GearKind::Batch, text, shapes, "NCHW");
  };
  EXPECT_EQ(code("1,2", "x:-1,3;y:2"), "");
  EXPECT_EQ(code("1,2", "x:3,-1"), "E10018");
  EXPECT_EQ(code("1,2", "x:3"), "E10031");
  EXPECT_EQ(code("1,2", "x:-1;s:"), "E10012");
  EXPECT_EQ(code("1,2", "x:1~4"), "E10040");
  EXPECT_EQ(code("1", "x:-1"), "E10035");
  EXPECT_EQ(code("1;2", "x:-1"), "E10003");
  EXPECT_EQ(code("1,-2", "x:-1"), "E10003");
  EXPECT_EQ(code("1,0", "x:-1"), "E10038");
  EXPECT_EQ(code("2,1,2", "x:-1"), "E10039");
  EXPECT_EQ(code("1,99999999999999999999", "x:-1"), "E10013");
  std::string many = "1";
  for (int i = 2; i <= 101; ++i) many += "," + std::to_string(i);
  EXPECT_EQ(code(many, "x:-1"), "E10036");
}

TEST(Gears, Image) {
  const auto code = [](std::string_view text, std::string_view shapes, std::string_view format) {
    return gear_code(GearKind::Image, text, shapes, format);
  };
  EXPECT_EQ(code("8,8;16,16", "x:1,3,-1,-1;info:1,4", "NCHW"), "");
  EXPECT_EQ(code("8,8;16,16", "x:1,-1,-1,3", "NHWC"), "");
  EXPECT_EQ(code("8,8;16,16", "x:1,-1,-1,3", "NCHW"), "E10019");
  EXPECT_EQ(code("8,8;16,16", "x:1,3,-1,8", "NCHW"), "E10019");
  EXPECT_EQ(code("8,8;16,16", "x:1,3,8,8", "NCHW"), "E10040");
  EXPECT_EQ(code("8,8;16,16", "x:1,3,-1,-1", "ND"), "E10001");
  EXPECT_EQ(code("8;16", "x:1,3,-1,-1", "NCHW"), "E10020");
  EXPECT_EQ(code("8,a;16,1", "x:1,3,-1,-1", "NCHW"), "E10003");
}

TEST(Gears, AnyDims) {
  const auto code = [](std::string_view text, std::string_view shapes, std::string_view format) {
    return gear_code(GearKind::Dims, text, shapes, format);
  };
  EXPECT_EQ(code("1,2;3,4", "x:-1,3;y:-1", "ND"), "");
  EXPECT_EQ(code("1,2;3,4", "x:-1,3", "ND"), "E10045");
  EXPECT_EQ(code("1;3", "x:-1,3;y:-1", "ND"), "E10046");
  EXPECT_EQ(code("1,2;3", "x:-1,-1", "ND"), "E10037");
  EXPECT_EQ(code("1,2;3,4", "x:-1,-1", "NCHW"), "E10001");
}

}  // namespace
}  // namespace atc::driver
