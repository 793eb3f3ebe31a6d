#include "rlc/rewrite/plan.h"

#include <gtest/gtest.h>

#include "rlc/base/file.h"
#include "rlc/testing/rewrite_laws.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kModel = R"(
    graph (float[1,2,4,4] x) => (float[1,2,4,4] y) {
      i = Identity(x)
      c = Conv(i, %w float[2,2,1,1])
      y = Mul(c, %s float[2,1,1])
    })";

Plan PlanOf(std::vector<Action> actions) {
  Plan plan;
  plan.model_hash = "00";
  plan.actions = std::move(actions);
  return plan;
}

TEST(Plan, AppliesOneSiteAndNothingElse) {
  const auto model = ApplyPlan(ParseToModel(kModel), PlanOf({{"fuse-arithmetic-into-layer", "y", {}}}), {});
  ASSERT_THAT(model, IsOk());
  EXPECT_THAT(model->graph, OpsAre({"Identity", "Conv"}));
}

TEST(Plan, AppliesARuleEverywhereAndAllRules) {
  const auto one = ApplyPlan(ParseToModel(kModel), PlanOf({{"remove-identity", "*", {}}}), {});
  ASSERT_THAT(one, IsOk());
  EXPECT_THAT(one->graph, OpsAre({"Conv", "Mul"}));
  Action simplify{"simplify", "*", {}};
  simplify.params.values["skip"] = {"remove-identity"};
  const auto all = ApplyPlan(ParseToModel(kModel), PlanOf({simplify}), {});
  ASSERT_THAT(all, IsOk());
  EXPECT_THAT(all->graph, OpsAre({"Identity", "Conv"}));
}

TEST(Plan, LeavesTheModelItWasGivenAlone) {
  const Model model = ParseToModel(kModel);
  ASSERT_THAT(ApplyPlan(model, PlanOf({{"simplify", "*", {}}}), {}), IsOk());
  EXPECT_THAT(model.graph, OpsAre({"Identity", "Conv", "Mul"}));
}

TEST(Plan, SaysWhichActionDoesNotFit) {
  const Model model = ParseToModel(kModel);
  EXPECT_THAT(
      ApplyPlan(model, PlanOf({{"simplify", "*", {}}, {"remove-identity", "i", {}}}), {}),
      IsErrorOf(ErrorKind::kInvalidInput, HasSubstr("action 1 (remove-identity@i): the graph has no site 'i'")));
  EXPECT_THAT(ApplyPlan(model, PlanOf({{"remove-identity", "c", {}}}), {}), IsError(HasSubstr("nothing to rewrite")));
  EXPECT_THAT(ApplyPlan(model, PlanOf({{"dance", "c", {}}}), {}), IsError(HasSubstr("no rewrite 'dance'")));
  EXPECT_THAT(ApplyPlan(model, PlanOf({{"simplify", "c", {}}}), {}), IsError(HasSubstr("site '*' only")));
  EXPECT_THAT(ApplyPlan(model, PlanOf({{"quantize-layer", "*", {}}}), {}), IsError(HasSubstr("only exact")));
}

TEST(Plan, RaisesTheOpsetOnlyWithAConverter) {
  const Model model = ParseToModel(kModel);
  EXPECT_THAT(ApplyPlan(model, PlanOf({{"raise-opset", "13", {}}}), {}), IsOk());
  EXPECT_THAT(ApplyPlan(model, PlanOf({{"raise-opset", "18", {}}}), {}),
              IsErrorOf(ErrorKind::kUnavailable, HasSubstr("convert")));
  EXPECT_THAT(ApplyPlan(model, PlanOf({{"raise-opset", "18x", {}}}), {}), IsError(HasSubstr("no operator set")));
  Services services;
  services.convert_opset = [](const Model& old, int target) -> Expected<Model> {
    Model raised = old;
    raised.graph.SetOpset("", target);
    return raised;
  };
  const auto raised = ApplyPlan(model, PlanOf({{"raise-opset", "18", {}}}), services);
  ASSERT_THAT(raised, IsOk());
  EXPECT_EQ(raised->graph.opset(), 18);
}

TEST(PlanFile, ComesBackAsItWas) {
  const auto folder = TempDir::Create();
  ASSERT_THAT(folder, IsOk());
  const std::string path = JoinPath(folder->path(), "plan.json");
  Action action{"quantize-layer", "layer3", {}};
  action.params.values = {{"scheme", "u8s8"}, {"per_channel", true}};
  action.params.arrays["scale"] = Tensor::Of<float>({2}, {0.1F, 1.0F / 3});
  action.params.arrays["kept"] = Tensor::Of<int64_t>({3}, {0, 4, INT64_MAX});
  action.params.arrays["weights"] = Tensor::Of<float>({40}, std::vector<float>(40, 0.7F));
  Plan plan = PlanOf({action, {"simplify", "*", {}}});
  plan.provenance["seed"] = 7;
  ASSERT_THAT(WritePlan(plan, path), IsOk());
  const auto read = ReadPlan(path);
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(read->model_hash, "00");
  EXPECT_EQ(read->provenance, plan.provenance);
  ASSERT_EQ(read->actions.size(), 2U);
  EXPECT_EQ(read->actions[0].Name(), "quantize-layer@layer3 u8s8");
  EXPECT_EQ(read->actions[0].params.values, action.params.values);
  ASSERT_EQ(read->actions[0].params.arrays.size(), 3U);
  for (const auto& [name, tensor] : action.params.arrays) {
    EXPECT_THAT(read->actions[0].params.arrays.at(name), SameTensor(tensor)) << name;
  }
}

TEST(PlanFile, SaysThatArraysAreMissing) {
  const auto folder = TempDir::Create();
  ASSERT_THAT(folder, IsOk());
  const std::string path = JoinPath(folder->path(), "plan.json");
  Action action{"prune-channels", "layer1", {}};
  action.params.arrays["w"] = Tensor::Of<float>({40}, std::vector<float>(40, 0.7F));
  ASSERT_THAT(WritePlan(PlanOf({action}), path), IsOk());
  ASSERT_EQ(std::remove(JoinPath(folder->path(), "plan.safetensors").c_str()), 0);
  EXPECT_THAT(ReadPlan(path), IsErrorOf(ErrorKind::kInvalidInput, HasSubstr(".safetensors")));
}

TEST(PlanFile, RefusesWhatIsNoPlan) {
  const std::map<std::string, Tensor> none;
  EXPECT_THAT(ParsePlan("", none), IsErrorOf(ErrorKind::kInvalidInput, HasSubstr("plan")));
  EXPECT_THAT(ParsePlan("[]", none), IsError(HasSubstr("no JSON object")));
  EXPECT_THAT(ParsePlan(R"({"version": 2})", none), IsError(HasSubstr("version 2")));
  const auto with_action = [&](std::string_view action) {
    return ParsePlan(fmt::format(R"({{"version": 1, "model_hash": "", "actions": [{}]}})", action), none);
  };
  EXPECT_THAT(with_action("7"), IsError(HasSubstr("action 0: it is no object")));
  EXPECT_THAT(with_action(R"({"rewrite": "a"})"), IsError(HasSubstr("site")));
  EXPECT_THAT(with_action(R"({"rewrite": "a", "site": "b", "sight": 1})"), IsError(HasSubstr("sight")));
  const auto with_array = [&](std::string_view array) {
    return with_action(fmt::format(R"({{"rewrite": "a", "site": "b", "arrays": {{"w": {}}}}})", array));
  };
  EXPECT_THAT(with_array(R"({"dtype": "float", "dims": [2], "data": [1]})"), IsError(HasSubstr("1 numbers")));
  EXPECT_THAT(with_array(R"({"dtype": "float", "dims": [-2], "data": []})"), IsError(HasSubstr("dims")));
  EXPECT_THAT(with_array(R"({"dtype": "string", "dims": [1], "data": [1]})"), IsError(HasSubstr("string")));
  EXPECT_THAT(with_array(R"({"dtype": "uint8", "dims": [1], "data": [256]})"), IsError(HasSubstr("256")));
  EXPECT_THAT(with_array(R"({"dtype": "float", "dims": [2], "hash": "ab"})"), IsError(HasSubstr("missing")));
  EXPECT_THAT(with_array("[]"), IsError(HasSubstr("'w'")));
}

TEST(PlanFile, SeveralEqualArraysAreStoredOnce) {
  const auto folder = TempDir::Create();
  ASSERT_THAT(folder, IsOk());
  const std::string path = JoinPath(folder->path(), "plan.json");
  Action action{"a", "b", {}};
  action.params.arrays["v"] = Tensor::Of<float>({40}, std::vector<float>(40, 0.7F));
  action.params.arrays["w"] = action.params.arrays["v"];
  ASSERT_THAT(WritePlan(PlanOf({action}), path), IsOk());
  const auto names = ListFolder(folder->path());
  ASSERT_THAT(names, IsOk());
  EXPECT_THAT(*names, ElementsAre("plan.json", "plan.safetensors"));
  const auto bytes = ReadFile(JoinPath(folder->path(), "plan.safetensors"));
  ASSERT_THAT(bytes, IsOk());
  EXPECT_LT(bytes->size(), 2 * 40 * sizeof(float) + 100);
}

}  // namespace
}  // namespace rlc
