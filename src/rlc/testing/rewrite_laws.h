// What every rewrite promises (design section 4), as checks that fail the running test; and helpers for tests of rules.
#ifndef RLC_TESTING_REWRITE_LAWS_H_
#define RLC_TESTING_REWRITE_LAWS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/ir/graph.h"
#include "rlc/rewrite/pipeline.h"
#include "rlc/rewrite/rewrite.h"
#include "rlc/testing/ir.h"

namespace rlc {

// --- one rule in a test of its own ---------------------------------------------------------------------------------

// Applies a rule wherever it can, with the types that the graph has, until it finds nothing more. Sites, in order.
std::vector<std::string> ApplyRule(std::string_view rule, Graph& graph, const RewriteContext& context = {});
// Reasons of all near misses.
std::vector<std::string> RefusalsOf(std::string_view rule, const Graph& graph, const RewriteContext& context = {});

// --- laws
// --------------------------------------------------------------------------------------------------------------

// One graph for each exact rule, in which it applies; some rules have several.
struct RuleFixture {
  std::string_view rule;
  std::string_view text;
};
const std::vector<RuleFixture>& RuleFixtures();

struct LawOptions {
  Services services;  // without types: those in the graph
  // Outputs of a graph for inputs made from a seed, optimizations off. Empty: numbers are not compared.
  std::function<Expected<std::vector<Tensor>>(const Graph& graph, uint64_t seed)> run;
  double tolerance = 1e-4;  // relative to the largest absolute value of the output, but at least to `floor`
  double floor = 1e-3;      // what cancels leaves the rounding errors of what was larger
};

using GraphRewrite = std::function<Expected<PipelineReport>(Graph& graph)>;

// Runs `rewrite` on a copy of `before` and expects: no error; a valid graph with the same interface; a report that says
// "changed" exactly if the text differs; the same text again from a second copy; no change by a second run; the same
// numbers. Returns the result.
Graph ExpectLaws(const Graph& before, const GraphRewrite& rewrite, const LawOptions& options);

// The laws for one rule, over all its sites.
Graph ExpectLawsOfRule(const Rewrite& rule, const Graph& before, const LawOptions& options);

}  // namespace rlc

#endif  // RLC_TESTING_REWRITE_LAWS_H_
