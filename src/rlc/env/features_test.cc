#include "rlc/env/features.h"

#include <cmath>

#include "rlc/testing/expected.h"
#include "rlc/testing/ir.h"

namespace rlc {
namespace {

using ::testing::HasSubstr;

// conv -> bn -> relu -> add(relu, x): 4 nodes, depth 4.
Graph Small() {
  return Parse(R"(
      graph (float[1,2,4,4] x) => (z) {
        c = Conv(x, %w float[2,2,1,1])
        b = BatchNormalization(c, %scale float[2], %bias float[2], %mean float[2], %var float[2])
        r = Relu(b)
        z = Add(r, b)
      })");
}

float CountScaled(double count, double most) {
  return static_cast<float>(2 * std::log10(1 + count) / std::log10(1 + most) - 1);
}

TEST(GraphFeatures, CountsByHand) {
  const GraphFeatures features(Small());
  const GraphFeatures::Counts& counts = features.counts();
  EXPECT_EQ(counts.nodes, 4);
  EXPECT_EQ(counts.inputs, 1);
  EXPECT_EQ(counts.outputs, 1);
  EXPECT_EQ(counts.parameters, 4 + 4 * 2);
  EXPECT_EQ(counts.bytes, 4 * 12);
  EXPECT_EQ(counts.depth, 4);
  EXPECT_EQ(counts.multi_input, 1) << "Add; constants do not count";
  EXPECT_EQ(counts.multi_output, 0);
  EXPECT_EQ(counts.ops, (std::array<double, 9>{1, 1, 1, 1, 0, 0, 0, 0, 0}));
}

TEST(GraphFeatures, ScaledAsDocumented) {
  const auto seen = GraphFeatures(Small()).Of(Catalogue{}, {});
  EXPECT_FLOAT_EQ(seen[0], CountScaled(4, 1e5));
  EXPECT_FLOAT_EQ(seen[1], CountScaled(1, 1e2));
  EXPECT_FLOAT_EQ(seen[3], CountScaled(12, 1e10));
  EXPECT_FLOAT_EQ(seen[4], CountScaled(48, 1e11));
  EXPECT_FLOAT_EQ(seen[5], 2 * 0.25F - 1) << "one Conv of four nodes";
  EXPECT_FLOAT_EQ(seen[9], -1.0F) << "no MaxPool";
  EXPECT_FLOAT_EQ(seen[14], 2 * 0.25F - 1) << "one node with two computed inputs";
  EXPECT_FLOAT_EQ(seen[16], 1.0F) << "a chain";
}

TEST(GraphFeatures, ActionsShowByWhatTheyChange) {
  Catalogue catalogue;
  catalogue.layers.resize(2);
  CatalogueEntry fold, quantize, prune;
  fold.type = ActionType::kFuseConvBn;
  quantize.type = ActionType::kQuantize;
  prune.type = ActionType::kPrune;
  prune.shrinks = {{0, 0.5}, {1, 0.5}};
  catalogue.entries = {fold, quantize, prune};
  const GraphFeatures features(Small());
  EXPECT_FLOAT_EQ(features.Of(catalogue, {0})[0], CountScaled(3, 1e5));
  EXPECT_FLOAT_EQ(features.Of(catalogue, {0})[7], -1.0F) << "the BatchNormalization is gone";
  EXPECT_FLOAT_EQ(features.Of(catalogue, {1})[0], CountScaled(7, 1e5));
  EXPECT_FLOAT_EQ(features.Of(catalogue, {1})[4], CountScaled(48 - 0.75 * 24, 1e11))
      << "half the bytes, a quarter stays";
  EXPECT_FLOAT_EQ(features.Of(catalogue, {2})[3], CountScaled(6, 1e10));
}

TEST(GraphFeatures, StayInRangeForAbsurdCounts) {
  GraphFeatures::Counts counts;
  counts.nodes = 1e300;
  counts.bytes = -1e300;
  counts.multi_input = 1e301;
  for (float value : GraphFeatures(counts).Of(Catalogue{}, {})) {
    EXPECT_GE(value, -1.0F);
    EXPECT_LE(value, 1.0F);
  }
}

TEST(GraphFeatures, JsonRoundTripAndRefusals) {
  const GraphFeatures features(Small());
  const auto back = GraphFeatures::FromJson(features.ToJson());
  ASSERT_THAT(back, IsOk());
  EXPECT_EQ(back->counts(), features.counts());
  Json json = features.ToJson();
  json["ops"].erase(0);
  EXPECT_THAT(GraphFeatures::FromJson(json), IsErrorOf(ErrorKind::kInvalidInput, HasSubstr("8 op counts, wanted 9")));
  json = features.ToJson();
  json["depth"] = nullptr;
  EXPECT_THAT(GraphFeatures::FromJson(json), IsError(HasSubstr("depth")));
}

}  // namespace
}  // namespace rlc
