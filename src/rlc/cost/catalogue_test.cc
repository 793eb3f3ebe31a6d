#include "rlc/cost/catalogue.h"

#include "rlc/testing/expected.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Two layers; the first has a BatchNormalization. Entries in an order that is not the plan's.
Catalogue TwoLayers() {
  Catalogue catalogue;
  catalogue.layers.resize(2);
  catalogue.layers[0] = {0, "conv0", "Conv", "s0", true, {1}};
  catalogue.layers[1] = {1, "fc", "Gemm", "s1", false, {}};
  const auto add = [&](ActionType type, int layer, const std::string& rewrite) {
    CatalogueEntry entry;
    entry.action = {rewrite, fmt::format("layer{}", layer), {}};
    entry.type = type;
    entry.layer = layer;
    entry.name = fmt::format("{} layer{}", ActionTypeName(type), layer);
    catalogue.entries.push_back(entry);
  };
  add(ActionType::kQuantize, 1, "quantize-layer");        // 0
  add(ActionType::kQuantize, 0, "quantize-layer");        // 1
  add(ActionType::kPrune, 0, "prune-channels");           // 2
  add(ActionType::kFuseConvBn, 0, "fuse-bn-into-layer");  // 3
  catalogue.entries[2].sparsity = 0.5;
  catalogue.entries[2].shrinks = {{0, 0.5}, {1, 0.25}};
  catalogue.prologue = {{"raise-opset", "13", {}}};
  catalogue.epilogue = {{"settle", "*", {}}};
  return catalogue;
}

TEST(Catalogue, FindsEntriesByTypeAndLayer) {
  const Catalogue catalogue = TwoLayers();
  EXPECT_EQ(catalogue.Find(ActionType::kQuantize, 0), 1);
  EXPECT_EQ(catalogue.Find(ActionType::kPrune, 1), -1);
}

TEST(Catalogue, QuantizeNeedsTheFoldWhereThereIsABatchNormalization) {
  const Catalogue catalogue = TwoLayers();
  EXPECT_FALSE(CanAdd(catalogue, {}, 1));
  EXPECT_TRUE(CanAdd(catalogue, {3}, 1));
  EXPECT_TRUE(CanAdd(catalogue, {}, 0));
  EXPECT_FALSE(CanAdd(catalogue, {0}, 0)) << "it is in the candidate already";
}

TEST(Catalogue, NormalizedSortsAddsFoldsAndDropsDuplicates) {
  const Catalogue catalogue = TwoLayers();
  EXPECT_THAT(Normalized(catalogue, {2, 1, 2}), ElementsAre(1, 2, 3));
  EXPECT_THAT(Normalized(catalogue, {}), IsEmpty());
}

TEST(Catalogue, PlanFoldsThenPrunesThenQuantizesEachByLayer) {
  const Catalogue catalogue = TwoLayers();
  const Plan plan = ToPlan(catalogue, {0, 1, 2}, "abc");
  std::vector<std::string> names;
  for (const Action& action : plan.actions) names.push_back(action.rewrite + "@" + action.site);
  EXPECT_THAT(names, ElementsAre("raise-opset@13", "fuse-bn-into-layer@layer0", "prune-channels@layer0",
                                 "quantize-layer@layer0", "quantize-layer@layer1", "settle@*"));
  EXPECT_EQ(plan.model_hash, "abc");
}

TEST(Catalogue, ExactRewritesAloneKeepTheOperatorSet) {
  Catalogue catalogue = TwoLayers();
  catalogue.epilogue.clear();
  catalogue.prologue = {{"raise-opset", "13", {}}, {"simplify", "*", {}}};
  ASSERT_EQ(ToPlan(catalogue, {}, "abc").actions.size(), 1U);
  EXPECT_EQ(ToPlan(catalogue, {}, "abc").actions[0].rewrite, "simplify");
  EXPECT_EQ(ToPlan(catalogue, {0}, "abc").actions[0].rewrite, "raise-opset");
}

TEST(Catalogue, DescribesCandidates) {
  EXPECT_EQ(Describe(TwoLayers(), {3, 0}), "fuse_conv_bn layer0, quantize layer1");
  EXPECT_EQ(Describe(TwoLayers(), {}), "nothing");
}

TEST(CatalogueJson, KeepsWhatTheSurrogateNeeds) {
  const Json json = ToJson(TwoLayers());
  const auto parsed = CatalogueFromJson(json);
  ASSERT_THAT(parsed, IsOk());
  const Catalogue& back = *parsed;
  EXPECT_EQ(ToJson(back), json);
  EXPECT_EQ(back.entries[2].shrinks[1].layer, 1);
  EXPECT_EQ(back.entries[2].shrinks[1].factor, 0.25);
  EXPECT_THAT(back.layers[0].readers, ElementsAre(1));
  EXPECT_TRUE(back.layers[0].has_bn);
}

// What a damaged or hostile file may hold; each is refused with a sentence that names the place.
TEST(CatalogueJson, RefusesLayersThatAreNotThere) {
  for (const int64_t layer : {int64_t{-1}, int64_t{2}, int64_t{1} << 32, INT64_MIN}) {
    Json json = ToJson(TwoLayers());
    json["entries"][2]["layer"] = layer;
    EXPECT_THAT(CatalogueFromJson(json), IsErrorOf(ErrorKind::kInvalidInput, HasSubstr("entries[2]"))) << layer;
    json = ToJson(TwoLayers());
    json["entries"][2]["shrinks"][0]["layer"] = layer;
    EXPECT_THAT(CatalogueFromJson(json), IsErrorOf(ErrorKind::kInvalidInput, HasSubstr("entries[2]"))) << layer;
    json = ToJson(TwoLayers());
    json["layers"][0]["readers"] = {layer};
    EXPECT_THAT(CatalogueFromJson(json), IsErrorOf(ErrorKind::kInvalidInput, HasSubstr("layers[0]"))) << layer;
  }
}

TEST(CatalogueJson, RefusesWrongTypesAndMissingFields) {
  for (const char* key : {"type", "layer", "name", "sparsity", "shrinks"}) {
    Json json = ToJson(TwoLayers());
    json["entries"][0].erase(key);
    EXPECT_THAT(CatalogueFromJson(json), IsError(HasSubstr(key)));
    json["entries"][0][key] = Json::object();
    EXPECT_THAT(CatalogueFromJson(json), IsError(HasSubstr(key)));
  }
  Json json = ToJson(TwoLayers());
  json["entries"][0]["type"] = "distill";
  EXPECT_THAT(CatalogueFromJson(json), IsError(HasSubstr("distill")));
  json = ToJson(TwoLayers());
  json["entries"][2]["shrinks"][0]["factor"] = 1.5;
  EXPECT_THAT(CatalogueFromJson(json), IsError(HasSubstr("1.5")));
  EXPECT_THAT(CatalogueFromJson(Json::array()), IsError(HasSubstr("layers")));
}

TEST(CatalogueJson, RefusesTooManyRows) {
  Json json = ToJson(TwoLayers());
  const Json layer = json["layers"][1];
  for (size_t i = 0; i < kMostCatalogueRows; ++i) json["layers"].push_back(layer);
  EXPECT_THAT(CatalogueFromJson(json), IsError(HasSubstr("10002")));
}

}  // namespace
}  // namespace rlc
