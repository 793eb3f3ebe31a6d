#include "rlc/optimize/zoo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rlc/ir/verify.h"
#include "rlc/onnx/export.h"
#include "rlc/onnx/import.h"

namespace rlc {
namespace {

using testing::HasSubstr;

TEST(MakeZooModel, EveryNamedModelIsValidOnnx) {
  for (const std::string& name : ZooNames()) {
    const auto model = MakeZooModel(name, 1);
    ASSERT_TRUE(model) << name;
    const auto bytes = SerializeModel(*model);
    ASSERT_TRUE(bytes) << name;
    const auto back = ParseModel(*bytes, name, "");
    EXPECT_TRUE(back) << name << ": " << back.error().message;
  }
}

TEST(MakeZooModel, SameSeedSameBytes) {
  EXPECT_EQ(*SerializeModel(*MakeZooModel("simple-conv", 7)), *SerializeModel(*MakeZooModel("simple-conv", 7)));
  EXPECT_NE(*SerializeModel(*MakeZooModel("simple-conv", 7)), *SerializeModel(*MakeZooModel("simple-conv", 8)));
}

TEST(MakeZooModel, BuildsResidualBlocksWithProjection) {
  const auto model = MakeZooModel("custom:1x8x8,conv4,[conv8s2,relu],relu,gap,fc3", 0);
  ASSERT_TRUE(model) << model.error().message;
  const auto bytes = SerializeModel(*model);
  ASSERT_TRUE(bytes);
  EXPECT_TRUE(ParseModel(*bytes, "residual", ""));
}

TEST(MakeZooModel, NamesTheStepThatIsWrong) {
  for (const char* spec :
       {"custom:", "custom:3x32", "custom:3x32x32,conf8", "custom:3x32x32,conv", "custom:3x32x32,conv8k3k3",
        "custom:3x32x32,[conv8", "custom:3x32x32,conv8]", "custom:3x32x32,gap,conv8", "custom:3x4x4,conv8k9p",
        "custom:3x32x32,conv99999999999999999999", "custom:4096x4096x4096,fc4096", "custom:1x1x1,max2",
        "custom:3x32x32,conv8g2", "nothing"}) {
    const auto model = MakeZooModel(spec, 0);
    ASSERT_FALSE(model) << spec;
    EXPECT_EQ(model.error().kind, ErrorKind::kUsage);
  }
  EXPECT_THAT(MakeZooModel("custom:3x32x32,relu,conf8", 0).error().message, HasSubstr("step 2 ('conf8')"));
}

}  // namespace
}  // namespace rlc
