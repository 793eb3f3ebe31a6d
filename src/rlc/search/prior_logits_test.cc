#include "rlc/search/prior_logits.h"

#include <cmath>

#include "rlc/env/layers_env.h"
#include "rlc/testing/expected.h"
#include "rlc/testing/synthetic_request.h"

namespace rlc {
namespace {

using ::testing::Each;

constexpr int kLayers = 6;

size_t IndexOf(LayerActionType type, int layer) {
  return static_cast<size_t>(static_cast<int>(type) * kLayers + layer);
}

TEST(PriorLogits, FavourWhatSavesMuchForLittleDrop) {
  TrainRequest request = SyntheticRequest(kLayers, 1);
  const auto entry = [&](int layer) {
    return static_cast<size_t>(request.catalogue.Find(ActionType::kQuantize, layer));
  };
  request.tables.layers[1] = {1, 0.2, 0.01, 0.01};
  request.tables.layers[3] = {1, 0.2, 0.01, 0.01};
  request.tables.layers[5] = {0.1, 0.5, 0.01, 0.01};
  request.tables.entry_drop[entry(1)] = 0;
  request.tables.entry_drop[entry(3)] = 0.5;
  const std::vector<float> logits =
      PriorLogits(request.catalogue, Surrogate(request.catalogue, request.tables), request.env.target_drop, 3);
  EXPECT_EQ(logits.size(), 30U);
  EXPECT_EQ(logits[IndexOf(LayerActionType::kQuantize, 1)], 3) << "saves most, costs nothing";
  EXPECT_EQ(logits[IndexOf(LayerActionType::kFuseConvBn, 1)], 3) << "makes it possible";
  EXPECT_EQ(logits[IndexOf(LayerActionType::kQuantize, 3)], -3) << "costs too much";
  EXPECT_LT(logits[IndexOf(LayerActionType::kQuantize, 5)], 0) << "slower";
  EXPECT_EQ(logits[IndexOf(LayerActionType::kTerminate, 0)], -3);
  for (float logit : logits) EXPECT_LE(std::abs(logit), 3);
}

TEST(PriorLogits, NothingToSayWhenNothingHelps) {
  TrainRequest request = SyntheticRequest(kLayers, 1);
  for (LayerTimes& times : request.tables.layers) times.int8_ms = 2 * times.float_ms;
  for (CatalogueEntry& entry : request.catalogue.entries) entry.shrinks.clear();
  EXPECT_THAT(PriorLogits(request.catalogue, Surrogate(request.catalogue, request.tables), 0.01, 3), Each(0.0F));
}

}  // namespace
}  // namespace rlc
