#include "rlc/search/best_by_estimate.h"

#include "rlc/search/test_problem.h"
#include "rlc/testing/expected.h"

namespace rlc {
namespace {

double LatencyOf(Surrogate& surrogate, const Candidate& candidate) {
  return surrogate.Evaluate(candidate)->latency_ms.value;
}

TEST(BestByEstimate, AsGoodAsTryingAllSubsets) {
  for (uint64_t seed = 0; seed < 12; ++seed) {
    TrainRequest request = SyntheticRequest(6, seed);
    request.env.target_drop = 0.004;  // tight enough to matter for so few layers
    ASSERT_LE(request.catalogue.entries.size(), 16U);
    Surrogate surrogate(request.catalogue, request.tables);
    const Candidate best = BestByEstimate(request.catalogue, surrogate, request.env.target_drop);
    EXPECT_EQ(best, Normalized(request.catalogue, best));
    EXPECT_LE(surrogate.ExpectedDrop(best).value(), request.env.target_drop);
    EXPECT_LE(LatencyOf(surrogate, best), 1.01 * BestLatencyByForce(request)) << "seed " << seed;
  }
}

TEST(BestByEstimate, NothingWhenNothingHelps) {
  TrainRequest request = SyntheticRequest(6, 1);
  for (LayerTimes& times : request.tables.layers) times.int8_ms = 2 * times.float_ms;
  for (CatalogueEntry& entry : request.catalogue.entries) entry.shrinks.clear();
  Surrogate surrogate(request.catalogue, request.tables);
  EXPECT_EQ(BestByEstimate(request.catalogue, surrogate, 0.01), Candidate{});
}

TEST(BestByEstimate, KeepsALimitOfZero) {
  TrainRequest request = SyntheticRequest(8, 5);
  request.tables.entry_drop[static_cast<size_t>(request.catalogue.Find(ActionType::kQuantize, 1))] = 0;
  Surrogate surrogate(request.catalogue, request.tables);
  const Candidate best = BestByEstimate(request.catalogue, surrogate, 0);
  EXPECT_EQ(surrogate.ExpectedDrop(best).value(), 0);
  EXPECT_LT(LatencyOf(surrogate, best), request.tables.exact_ms);
}

TEST(BestByEstimate, AllThatHelpsWithoutAKnownDrop) {
  TrainRequest request = SyntheticRequest(9, 5);
  request.tables.drop_known = false;
  Surrogate surrogate(request.catalogue, request.tables);
  const Candidate best = BestByEstimate(request.catalogue, surrogate, 0.01);
  TrainRequest free = SyntheticRequest(9, 5);
  Surrogate limited(free.catalogue, free.tables);
  EXPECT_LT(LatencyOf(surrogate, best), LatencyOf(limited, BestByEstimate(free.catalogue, limited, 0.001)));
}

}  // namespace
}  // namespace rlc
