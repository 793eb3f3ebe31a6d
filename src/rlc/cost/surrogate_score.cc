#include "rlc/cost/surrogate_score.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "rlc/base/statistics.h"

namespace rlc {
namespace {

struct Scored {
  const Surrogate::Measured* measured;
  double latency = 0, drop = 0;  // expected
};

std::vector<Scored> Expect(Surrogate& surrogate, std::span<const Surrogate::Measured> fitted,
                           std::span<const Surrogate::Measured> held_out) {
  std::set<Candidate> seen;
  for (const auto& measured : fitted) seen.insert(measured.candidate);
  std::vector<Scored> scored;
  for (const auto& measured : held_out) {
    if (!seen.insert(measured.candidate).second) continue;
    const auto costs = surrogate.Evaluate(measured.candidate);
    RLC_CHECK(costs.has_value());  // a surrogate prices everything
    scored.push_back({&measured, costs->latency_ms.value, costs->drop ? costs->drop->value : 0.0});
  }
  return scored;
}

void ScoreNearBest(const std::vector<Scored>& scored, double margin, SurrogateScore& score) {
  const auto measured_less = [](const Scored& a, const Scored& b) {
    return a.measured->latency_ms < b.measured->latency_ms;
  };
  const Scored& best = *std::min_element(scored.begin(), scored.end(), measured_less);
  std::vector<double> expected, measured;
  const Scored* pick = nullptr;
  for (const Scored& one : scored) {
    if (one.measured->latency_ms > (1 + margin) * best.measured->latency_ms) continue;
    expected.push_back(one.latency);
    measured.push_back(one.measured->latency_ms);
    if (pick == nullptr || one.latency < pick->latency) pick = &one;
  }
  score.near_best = static_cast<int>(expected.size());
  score.kendall = KendallTau(expected, measured);
  score.pick = pick->measured->candidate;
  score.best = best.measured->candidate;
  score.regret = pick->measured->latency_ms / best.measured->latency_ms - 1;
}

std::vector<DropError> DropErrors(const std::vector<Scored>& scored) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<DropError> errors;
  double above = -kInfinity;
  for (const double up_to : {0.005, 0.01, 0.02, 0.05, kInfinity}) {
    DropError error;
    error.above = std::exchange(above, up_to);
    error.up_to = up_to;
    for (const Scored& one : scored) {
      if (one.measured->drop <= error.above || one.measured->drop > up_to) continue;
      const double difference = one.drop - one.measured->drop;
      ++error.candidates;
      error.mean += difference;
      error.mean_absolute += std::abs(difference);
      error.largest = std::max(error.largest, std::abs(difference));
    }
    if (error.candidates == 0) continue;
    error.mean /= error.candidates;
    error.mean_absolute /= error.candidates;
    errors.push_back(error);
  }
  return errors;
}

Json FiniteOrNull(double value) { return std::isfinite(value) ? Json(value) : Json(); }

}  // namespace

SurrogateScore ScoreSurrogate(const Catalogue& catalogue, const SurrogateTables& tables,
                              std::span<const Surrogate::Measured> fitted,
                              std::span<const Surrogate::Measured> held_out, double margin) {
  Surrogate surrogate(catalogue, tables);
  surrogate.Correct(fitted);
  const std::vector<Scored> scored = Expect(surrogate, fitted, held_out);
  SurrogateScore score;
  score.held_out = static_cast<int>(scored.size());
  if (scored.empty()) return score;
  ScoreNearBest(scored, margin, score);
  for (const Scored& one : scored) {
    score.latency_error += std::abs(one.latency - one.measured->latency_ms) / one.measured->latency_ms;
  }
  score.latency_error /= static_cast<double>(scored.size());
  score.drop = DropErrors(scored);
  return score;
}

Json ToJson(const SurrogateScore& score) {
  Json drop = Json::array();
  for (const DropError& error : score.drop) {
    drop.push_back({{"above", FiniteOrNull(error.above)},
                    {"up_to", FiniteOrNull(error.up_to)},
                    {"candidates", error.candidates},
                    {"mean", error.mean},
                    {"mean_absolute", error.mean_absolute},
                    {"largest", error.largest}});
  }
  return {{"held_out", score.held_out},           {"near_best", score.near_best}, {"kendall", score.kendall},
          {"latency_error", score.latency_error}, {"regret", score.regret},       {"drop", std::move(drop)}};
}

}  // namespace rlc
