// The last round of rlc optimize as pure decisions: which trials are looked at again, and which of them is written.
#ifndef RLC_OPTIMIZE_FINALISTS_H_
#define RLC_OPTIMIZE_FINALISTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rlc/measure/timing.h"
#include "rlc/optimize/compare.h"
#include "rlc/search/method.h"

namespace rlc {

// One verified candidate: timed afresh beside the original.
struct Finalist {
  Candidate candidate;
  Plan plan;                           // what makes it
  bool original = false;               // nothing applied at all
  bool exact = false;                  // with compiled regions: exact forms of layers only
  std::vector<std::string> libraries;  // of custom operators that it is run with
  std::map<int, std::string> forms;    // of layers in compiled regions, where it is not the direct one
  std::string description;
  std::string path;  // of its file, in the run's folder
  int64_t file_bytes = 0;
  Timing timing;
  std::optional<Estimate> search_drop, final_drop;
  // With compiled regions: the same file as a runtime without our library runs it.
  std::optional<Timing> plain_timing;
  std::optional<Estimate> plain_drop;
  // Exact rewrites only: the output that deviates most from the original's, optimizations off; nothing: not compared.
  std::optional<OutputDeviation> deviation;

  bool exact_only() const { return !original && (has_regions() ? exact : candidate.empty()); }
  bool has_regions() const { return !libraries.empty(); }
};

// What to look at on the final split, without the empty candidate: the two best trials within the limit by their
// estimates, which may turn out to be over it; the three best of those that are surely within it; the first that was
// tried (the usual recipe). In this order, none twice; pointers into `trials`.
std::vector<const SearchTrial*> BestTrials(const std::vector<SearchTrial>& trials, double max_drop);

// Exact rewrites keep the limit when no drop is there (few samples are no reason against the same function) and their
// outputs are the original's; everything else when the drop is within the limit even at its upper end. With compiled
// regions, the file without our library keeps the limit, too, and is not slower than the original. False without a
// drop.
bool KeepsLimit(const Finalist& finalist, double max_drop);

struct Choice {
  int winner = 0;      // index into the finalists; 0: the original stays
  std::string reason;  // why it is not something faster; empty: nothing was
};

// The fastest that keeps the limit and is faster than the original outside the noise. finalists[0] is the original.
Choice Choose(const std::vector<Finalist>& finalists, double max_drop);

}  // namespace rlc

#endif  // RLC_OPTIMIZE_FINALISTS_H_
