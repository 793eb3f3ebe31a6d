#include "rlc/cost/surrogate.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

#include "rlc/base/rng.h"
#include "rlc/testing/expected.h"
#include "rlc/testing/synthetic_request.h"

namespace rlc {
namespace {

using ::testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// input -> layer 0 -> layer 1 -> layer 2 -> output. Entry i quantizes layer i; entry 3 prunes layer 0 to a half, which
// also halves layer 1.
Catalogue Chain() {
  Catalogue catalogue;
  for (int i = 0; i < 3; ++i) {
    catalogue.layers.push_back({i, fmt::format("l{}", i), "Conv", fmt::format("s{}", i), false, {}});
    if (i < 2) catalogue.layers.back().readers = {i + 1};
    CatalogueEntry entry;
    entry.layer = i;
    catalogue.entries.push_back(entry);
  }
  CatalogueEntry prune;
  prune.type = ActionType::kPrune;
  prune.layer = 0;
  prune.shrinks = {{0, 0.5}, {1, 0.5}};
  catalogue.entries.push_back(prune);
  return catalogue;
}

SurrogateTables ChainTables() {
  SurrogateTables tables;
  tables.baseline_ms = 12;
  tables.exact_ms = 10;
  tables.layers = {{4, 1, 0.1, 0.2}, {3, 2, 0.3, 0.4}, {2, 1.5, 0.5, 0.6}};
  tables.entry_drop = {0.001, 0.002, -0.004, 0.008};
  tables.drop_known = true;
  return tables;
}

double LatencyOf(Surrogate& surrogate, const Candidate& candidate) {
  return surrogate.Evaluate(candidate)->latency_ms.value;
}

TEST(Surrogate, PricesFormsBordersAndShrinkByHand) {
  const Catalogue catalogue = Chain();
  Surrogate surrogate(catalogue, ChainTables());
  EXPECT_DOUBLE_EQ(LatencyOf(surrogate, {}), 10);
  // Layer 0 as int8: its input is quantized, its output dequantized for layer 1.
  EXPECT_DOUBLE_EQ(LatencyOf(surrogate, {0}), 10 - 4 + 1 + 0.1 + 0.2);
  // Layer 1 alone: the border to layer 0 costs one quantize.
  EXPECT_DOUBLE_EQ(LatencyOf(surrogate, {1}), 10 - 3 + 2 + 0.3 + 0.4);
  // Both: no border between them.
  EXPECT_DOUBLE_EQ(LatencyOf(surrogate, {0, 1}), 10 - 4 + 1 - 3 + 2 + 0.1 + 0.4);
  // The last one: its output is the network's.
  EXPECT_DOUBLE_EQ(LatencyOf(surrogate, {2}), 10 - 2 + 1.5 + 0.5 + 0.6);
  // Pruned, both layers do half the work.
  EXPECT_DOUBLE_EQ(LatencyOf(surrogate, {3}), 10 - 2 - 1.5);
  // Pruned and int8: half of the int8 time, and half as much to dequantize.
  EXPECT_NEAR(LatencyOf(surrogate, {3, 0}), 10 - 4 + 0.5 - 1.5 + 0.1 + 0.1, 1e-12);
}

TEST(Surrogate, AnOutputWithTwoReadersIsConvertedOnce) {
  Catalogue catalogue = Chain();
  catalogue.layers[0].readers = {1, 2};
  Surrogate surrogate(catalogue, ChainTables());
  // Float layer 0 feeds two int8 layers: one quantize (that of the first reader); only layer 2's end is dequantized.
  EXPECT_DOUBLE_EQ(LatencyOf(surrogate, {1, 2}), 10 - 3 + 2 - 2 + 1.5 + 0.3 + 0.6);
  // int8 layer 0 with one float and one int8 reader: one dequantize.
  EXPECT_DOUBLE_EQ(LatencyOf(surrogate, {0, 1}), 10 - 4 + 1 - 3 + 2 + 0.1 + 0.2 + 0.4);
}

TEST(Surrogate, StatesRatioDropAndSource) {
  const Catalogue catalogue = Chain();
  Surrogate surrogate(catalogue, ChainTables());
  const auto costs = surrogate.Evaluate({0, 2, 3});
  ASSERT_THAT(costs, IsOk());
  EXPECT_EQ(costs->source, CostSource::kSurrogate);
  EXPECT_DOUBLE_EQ(costs->ratio.value, costs->latency_ms.value / 12);
  EXPECT_NEAR(costs->drop->value, 0.001 + 0 + 0.008, 1e-15) << "an entry that seems to help counts as 0";
  EXPECT_EQ(surrogate.evaluations(), 1);
}

TEST(Surrogate, SaysNothingAboutDropsWithoutData) {
  const Catalogue catalogue = Chain();
  SurrogateTables tables = ChainTables();
  tables.drop_known = false;
  Surrogate surrogate(catalogue, tables);
  EXPECT_FALSE(surrogate.Evaluate({0})->drop.has_value());
  std::vector<double> drops(4, -1);
  EXPECT_FALSE(surrogate.ExpectedDropsAfter({}, drops));
  EXPECT_EQ(drops, std::vector<double>(4, -1));
}

TEST(Surrogate, FormsThatWereNotMeasuredCostTheSame) {
  const Catalogue catalogue = Chain();
  SurrogateTables tables = ChainTables();
  tables.layers[0] = {kNan, kNan, kNan, kNan};
  tables.layers[2].int8_ms = kNan;
  Surrogate surrogate(catalogue, tables);
  EXPECT_DOUBLE_EQ(LatencyOf(surrogate, {0}), 10);
  EXPECT_DOUBLE_EQ(LatencyOf(surrogate, {2}), 10 + 0.5 + 0.6);
}

TEST(Surrogate, CorrectionMovesEstimatesTowardsMeasurements) {
  const Catalogue catalogue = Chain();
  Surrogate surrogate(catalogue, ChainTables());
  const double before = LatencyOf(surrogate, {0});
  const std::vector<Surrogate::Measured> once = {{{0}, before + 1, 0.011}};
  surrogate.Correct(once);
  // One measurement of one entry moves a drop half way (ridge 1), a latency by more the faster the candidate is.
  const double speed = surrogate.tables().baseline_ms / (before + 1), weight = speed * speed;
  EXPECT_NEAR(LatencyOf(surrogate, {0}), before + weight / (weight + 1), 1e-12);
  EXPECT_NEAR(surrogate.ExpectedDrop({0}).value(), 0.001 + 0.005, 1e-12);
  EXPECT_DOUBLE_EQ(LatencyOf(surrogate, {1}), 10 - 3 + 2 + 0.3 + 0.4) << "the others stay";
  // Many equal ones nearly all of the way; and each call starts anew.
  const std::vector<Surrogate::Measured> often(19, once[0]);
  surrogate.Correct(often);
  EXPECT_NEAR(LatencyOf(surrogate, {0}), before + 19 * weight / (19 * weight + 1), 1e-12);
}

TEST(Surrogate, CorrectionIsTheSameInBothSpaces) {
  // Five measurements of four entries are solved by entries; the same ones beside 95 entries that none of them has, by
  // candidates.
  const std::vector<Surrogate::Measured> measured = {
      {{0}, 7, 0.01}, {{1, 2}, 8, 0.02}, {{0, 3}, 6, 0.03}, {{0, 1, 2}, 5.5, 0}, {{3}, 6.25, 0.004}};
  const Catalogue few = Chain();
  Catalogue many = Chain();
  SurrogateTables tables = ChainTables();
  Surrogate small(few, tables);
  many.entries.resize(99, many.entries[0]);
  tables.entry_drop.resize(99, 0);
  Surrogate large(many, tables);
  small.Correct(measured);
  large.Correct(measured);
  for (const Candidate& candidate : {Candidate{0}, Candidate{1}, Candidate{0, 2, 3}}) {
    EXPECT_NEAR(LatencyOf(small, candidate), LatencyOf(large, candidate), 1e-9);
    EXPECT_NEAR(*small.ExpectedDrop(candidate), *large.ExpectedDrop(candidate), 1e-9);
  }
}

TEST(Surrogate, NeverPromisesTheImpossible) {
  const Catalogue catalogue = Chain();
  Surrogate surrogate(catalogue, ChainTables());
  surrogate.Correct(std::vector<Surrogate::Measured>(50, {{0}, 0.1, 0.0}));
  surrogate.Correct(std::vector<Surrogate::Measured>(50, {{0}, -100, -1}));
  EXPECT_DOUBLE_EQ(LatencyOf(surrogate, {0}), 0.12);
  EXPECT_EQ(surrogate.ExpectedDrop({0}), 0.0);
}

TEST(Surrogate, CopiesAreIndependent) {
  const Catalogue catalogue = Chain();
  Surrogate surrogate(catalogue, ChainTables());
  Surrogate copy = surrogate;
  copy.Correct(std::vector<Surrogate::Measured>(9, {{0}, 20, 0.5}));
  EXPECT_DOUBLE_EQ(LatencyOf(surrogate, {0}), 10 - 4 + 1 + 0.1 + 0.2);
  EXPECT_EQ(surrogate.evaluations(), 1);
  EXPECT_EQ(copy.evaluations(), 0);
}

RC_GTEST_PROP(SurrogateLaws, DropsAfterAgreeWithDropsOneByOne, (uint64_t seed)) {
  const TrainRequest request = SyntheticRequest(12, seed);
  Surrogate surrogate(request.catalogue, request.tables);
  Rng rng(seed);
  Candidate candidate;
  const auto entries = static_cast<int>(request.catalogue.entries.size());
  for (int entry = 0; entry < entries; ++entry) {
    if (rng.Bernoulli(0.3)) candidate.push_back(entry);
  }
  const std::vector<Surrogate::Measured> measured = {{candidate, rng.UniformReal(1, 5), rng.UniformReal(0, 0.1)}};
  surrogate.Correct(measured);
  std::vector<double> fast(static_cast<size_t>(entries)), slow(fast);
  RC_ASSERT(surrogate.ExpectedDropsAfter(candidate, fast));
  RC_ASSERT(surrogate.Evaluator::ExpectedDropsAfter(candidate, slow));
  RC_ASSERT(fast == slow);
}

RC_GTEST_PROP(SurrogateLaws, OrderOfEntriesDoesNotMatterForLatency, (uint64_t seed)) {
  const TrainRequest request = SyntheticRequest(9, seed);
  Surrogate surrogate(request.catalogue, request.tables);
  Rng rng(seed);
  Candidate candidate;
  for (int entry = 0; entry < static_cast<int>(request.catalogue.entries.size()); ++entry) {
    if (rng.Bernoulli(0.5)) candidate.push_back(entry);
  }
  const double sorted = LatencyOf(surrogate, candidate);
  rng.Shuffle(candidate);
  RC_ASSERT(std::abs(LatencyOf(surrogate, candidate) - sorted) < 1e-12 * sorted);
}

TEST(SurrogateJson, KeepsTablesUnknownFormsAndCorrection) {
  const Catalogue catalogue = Chain();
  SurrogateTables tables = ChainTables();
  tables.layers[1].int8_ms = kNan;
  Surrogate surrogate(catalogue, tables);
  surrogate.Correct(std::vector<Surrogate::Measured>(3, {{0, 3}, 9, 0.02}));
  auto back = Surrogate::FromJson(catalogue, surrogate.ToJson());
  ASSERT_THAT(back, IsOk());
  EXPECT_EQ(back->ToJson(), surrogate.ToJson());
  EXPECT_TRUE(std::isnan(back->tables().layers[1].int8_ms));
  EXPECT_EQ(LatencyOf(*back, {0, 1, 3}), LatencyOf(surrogate, {0, 1, 3}));
  EXPECT_EQ(back->ExpectedDrop({0, 3}), surrogate.ExpectedDrop({0, 3}));
}

TEST(SurrogateJson, RefusesTablesThatDoNotFit) {
  const Catalogue catalogue = Chain();
  const Json good = Surrogate(catalogue, ChainTables()).ToJson();
  for (const char* key : {"layers", "entry_drop", "latency_correction", "drop_correction"}) {
    Json json = good;
    json[key].erase(0);
    EXPECT_THAT(Surrogate::FromJson(catalogue, json),
                IsErrorOf(ErrorKind::kInvalidInput, HasSubstr("3 layers and 4 entries")));
    json.erase(key);
    EXPECT_THAT(Surrogate::FromJson(catalogue, json), IsError(HasSubstr(key)));
  }
  for (const char* key : {"baseline_ms", "exact_ms"}) {
    Json json = good;
    json[key] = 0;
    EXPECT_THAT(Surrogate::FromJson(catalogue, json), IsError(HasSubstr("not above 0")));
    json[key] = nullptr;
    EXPECT_THAT(Surrogate::FromJson(catalogue, json), IsError(HasSubstr(key)));
  }
}

}  // namespace
}  // namespace rlc
