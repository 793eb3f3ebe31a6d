// What all search methods share: asking the evaluator, counting the budget, keeping the best, correcting the surrogate,
// telling the caller.
#ifndef RLC_SEARCH_RECORDER_H_
#define RLC_SEARCH_RECORDER_H_

#include <map>

#include "rlc/search/method.h"

namespace rlc {

class Recorder {
 public:
  // Measures the empty candidate at once: trial 0, what every other is compared with.
  explicit Recorder(const SearchProblem& problem);

  // True when the method must end: budget spent, or told to stop.
  bool Done() const;
  // Measures a candidate (normalized first) unless that was done before, and returns its trial; null when the budget is
  // spent. A candidate that fails is a trial too.
  const SearchTrial* Try(const Candidate& candidate);
  bool Known(const Candidate& candidate) const;

  const SearchTrial* best() const;
  const std::vector<SearchTrial>& trials() const { return result_.trials; }
  int evaluations_left() const;

  SearchResult Finish() &&;

 private:
  void Measure(const Candidate& normalized);

  const SearchProblem& problem_;
  SearchResult result_;
  std::vector<Surrogate::Measured> measured_;
  std::map<Candidate, size_t> index_;  // normalized candidate -> trial
  double started_;
  int evaluations_at_start_;
};

}  // namespace rlc

#endif  // RLC_SEARCH_RECORDER_H_
