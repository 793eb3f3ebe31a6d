// The rewrite interface: a rule looks at one place of a graph and answers with an edit, a refusal, or nothing.
//
// Three parts, in this order: match (const), decide (everything that can fail), rewrite (cannot fail). At() does the
// first two and returns the third as a closure, so nothing is touched before the last possible failure.
#ifndef RLC_REWRITE_REWRITE_H_
#define RLC_REWRITE_REWRITE_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "rlc/base/json.h"
#include "rlc/ir/graph.h"
#include "rlc/ir/services.h"

namespace rlc {

enum class Exactness {
  kExact,        // same function up to float rounding, proven by the rule's guards
  kApproximate,  // changes the function: int8, pruning
};

struct RewriteInfo {
  std::string_view id;  // = file name with dashes: "fuse-bn-into-layer"
  Exactness exactness;
  std::string_view summary;  // one line for --list-rules: "y = BN(Conv(x, W)) -> y = Conv(x, W')"
  // Looks at the graph as a whole (dead code, equal nodes): one site, "graph", whose anchor is kNone.
  bool whole_graph = false;
};

// What a rewrite has been told: small values as JSON, large ones as arrays by name. Exact rules take none. For
// approximate ones this is the result of calibration (scales, zero points, kept channels), so that applying needs no
// data.
struct Params {
  Json values = Json::object();
  std::map<std::string, Tensor> arrays;
};

// What rules may ask for and the limits they keep.
struct RewriteContext {
  ConstantEvaluator* evaluator = nullptr;  // null: only what rlc evaluates itself
  // A folded constant may be this much larger than the constants that went in, in bytes.
  int64_t fold_limit = 1 << 20;
  int64_t ir_version = 8;
};

// Changes a graph that is equal to the one At() saw; cannot fail.
using Edit = std::function<void(Graph&)>;

struct NoMatch {};

// A near miss: the pattern is there, a guard stopped it. `reason` completes "refused because ...".
struct Refusal {
  std::string reason;
};

using Outcome = std::variant<NoMatch, Refusal, Edit>;

// One place where a rewrite applies. `id` is the name of the anchor's first output, or "layer<N>" for rewrites of
// layers: both survive other rewrites, because a fused node keeps the name of the value it computes, and a layer its
// number.
struct Site {
  std::string id;
  NodeId anchor = NodeId::kNone;
};

class Rewrite {
 public:
  virtual ~Rewrite() = default;
  virtual const RewriteInfo& info() const = 0;

  // Looks at the pattern anchored at `anchor`: by convention the last node of it, the one whose output survives. An
  // edit returned here changes the graph for certain; after it, the same anchor (if it lives) yields no equal edit
  // again.
  virtual Outcome At(const Graph& graph, NodeId anchor, const Params& params, const RewriteContext& context) const = 0;

  // All sites where At() yields an edit without parameters, in topological order. Layer rewrites override it.
  virtual std::vector<Site> Sites(const Graph& graph, const RewriteContext& context) const;
  // The anchor that a site id means in this graph; kNone when it is gone.
  virtual NodeId FindAnchor(const Graph& graph, std::string_view site) const;
};

// An exact rule made of one function; what most files in exact/ return.
using MatchFunction = Outcome (*)(const Graph& graph, NodeId anchor, const RewriteContext& context);
std::unique_ptr<Rewrite> MakeExactRule(std::string_view id, std::string_view summary, MatchFunction match);
std::unique_ptr<Rewrite> MakeExactGraphRule(std::string_view id, std::string_view summary, MatchFunction match);

// The id of the site anchored at a node: the name of its first present output; "graph" for kNone.
std::string SiteId(const Graph& graph, NodeId anchor);

// All rules, sorted by id: exact/ and approximate/, one row each in rules.inc.
const std::vector<std::unique_ptr<Rewrite>>& AllRewrites();
// Null when there is no such rule.
const Rewrite* FindRewrite(std::string_view id);

}  // namespace rlc

#endif  // RLC_REWRITE_REWRITE_H_
