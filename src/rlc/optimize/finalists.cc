#include "rlc/optimize/finalists.h"

#include <algorithm>

#include "rlc/base/format.h"

namespace rlc {
namespace {

constexpr size_t kMostByEstimate = 2;
constexpr size_t kMostSure = 3;

// Within the limit even at the upper bound of its drop.
bool SurelyWithin(const SearchTrial& trial, double max_drop) {
  return trial.costs && (!trial.costs->drop || trial.costs->drop->high <= max_drop);
}

bool SameOutputs(const Finalist& finalist) {
  return finalist.deviation && finalist.deviation->relative_rms <= kExactTolerance;
}

// The file without our library is no worse than the original.
bool PlainIsSafe(const Finalist& finalist, double max_drop) {
  if (!finalist.has_regions()) return true;
  return finalist.plain_timing && finalist.plain_timing->change != Change::kSlower && finalist.plain_drop &&
         finalist.plain_drop->value <= max_drop;
}

bool IsFaster(const Finalist& finalist) {
  return !finalist.original && finalist.timing.change == Change::kFaster && finalist.final_drop;
}

std::string WhyNot(const Finalist& finalist, double max_drop) {
  const std::string speed = FormatRatio(1 / finalist.timing.ratio.value);
  if (finalist.exact_only() && finalist.deviation && !SameOutputs(finalist)) {
    return fmt::format("a model {} as fast was refused: {}", speed, DescribeDeviation(*finalist.deviation));
  }
  if (finalist.exact_only() && !finalist.deviation) {
    return fmt::format("a model {} as fast was refused: its outputs could not be compared with the original's", speed);
  }
  if (!PlainIsSafe(finalist, max_drop)) {
    return fmt::format(
        "a model {} as fast was refused: without librlc_ops.so its file is slower than the original, or "
        "over the limit",
        speed);
  }
  return fmt::format(
      "a model {} as fast failed on the final split: its drop of {} may be as large as {}, the limit is {}", speed,
      FormatPoints(finalist.final_drop->value), FormatPoints(finalist.final_drop->high), FormatPoints(max_drop));
}

}  // namespace

std::vector<const SearchTrial*> BestTrials(const std::vector<SearchTrial>& trials, double max_drop) {
  std::vector<const SearchTrial*> within;
  for (const SearchTrial& trial : trials) {
    if (!trial.candidate.empty() && BetterTrial(trial, SearchTrial{}, max_drop)) within.push_back(&trial);
  }
  std::vector<const SearchTrial*> sorted = within;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const SearchTrial* a, const SearchTrial* b) { return BetterTrial(*a, *b, max_drop); });
  std::vector<const SearchTrial*> best;
  const auto add = [&](const SearchTrial* trial) {
    if (std::find(best.begin(), best.end(), trial) == best.end()) best.push_back(trial);
  };
  for (const SearchTrial* trial : sorted) {
    if (best.size() < kMostByEstimate) add(trial);
  }
  size_t sure = 0;
  for (const SearchTrial* trial : sorted) {
    if (SurelyWithin(*trial, max_drop) && sure++ < kMostSure) add(trial);
  }
  if (!within.empty()) add(within.front());
  return best;
}

bool KeepsLimit(const Finalist& finalist, double max_drop) {
  if (!finalist.final_drop || !PlainIsSafe(finalist, max_drop)) return false;
  if (finalist.exact_only()) return finalist.final_drop->value <= max_drop && SameOutputs(finalist);
  return finalist.final_drop->high <= max_drop;
}

Choice Choose(const std::vector<Finalist>& finalists, double max_drop) {
  const auto ratio = [&](int i) { return finalists[static_cast<size_t>(i)].timing.ratio.value; };
  const int count = static_cast<int>(finalists.size());
  Choice choice;
  for (int i = 1; i < count; ++i) {
    const Finalist& finalist = finalists[static_cast<size_t>(i)];
    if (!IsFaster(finalist) || !KeepsLimit(finalist, max_drop)) continue;
    if (choice.winner == 0 || ratio(i) < ratio(choice.winner)) choice.winner = i;
  }
  for (int i = 1; i < count; ++i) {
    const Finalist& finalist = finalists[static_cast<size_t>(i)];
    if (IsFaster(finalist) && ratio(i) < ratio(choice.winner) && !KeepsLimit(finalist, max_drop)) {
      choice.reason = WhyNot(finalist, max_drop);
    }
  }
  if (choice.winner == 0 && choice.reason.empty()) {
    choice.reason = "nothing that was tried is faster than the original, outside the noise";
  }
  return choice;
}

}  // namespace rlc
