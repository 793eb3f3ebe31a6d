//   y = Cast(Cast(x, A), B)   ->   y = Cast(x, B)      where x of type T fits into A without loss
//
// "Fits": every value of T, NaN and infinities included, is a value of A. Then the first cast rounds nothing and the
// second sees the same number. float -> int -> bool (0.2 is false), float -> half -> float and int64 -> int32 -> int64
// do lose.
#include "rlc/rewrite/edit.h"
#include "rlc/rewrite/match.h"
#include "rlc/rewrite/rewrite.h"

namespace rlc {
namespace {

// Bits of exact integers that a type holds, and whether it has a sign.
struct Range {
  int bits;
  bool is_signed;
};

std::optional<Range> IntegerRange(DType type) {
  switch (type) {
    case DType::kBool:
      return Range{1, false};
    case DType::kUint8:
    case DType::kUint16:
    case DType::kUint32:
    case DType::kUint64:
      return Range{BitsOf(type), false};
    case DType::kInt8:
    case DType::kInt16:
    case DType::kInt32:
    case DType::kInt64:
      return Range{BitsOf(type) - 1, true};
    default:
      return std::nullopt;
  }
}

// Bits of the significand; every integer up to 2^bits is exact.
int Significand(DType type) {
  switch (type) {
    case DType::kBFloat16:
      return 8;
    case DType::kFloat16:
      return 11;
    case DType::kFloat:
      return 24;
    case DType::kDouble:
      return 53;
    default:
      return 0;
  }
}

bool FitsWithoutLoss(DType from, DType into) {
  if (from == into) return true;
  const auto integers = IntegerRange(from);
  if (into == DType::kBool) return false;
  if (const auto target = IntegerRange(into)) {
    return integers && target->bits >= integers->bits && (target->is_signed || !integers->is_signed);
  }
  if (integers) return Significand(into) >= integers->bits;
  if (from == DType::kFloat16 || from == DType::kBFloat16) return into == DType::kFloat || into == DType::kDouble;
  return from == DType::kFloat && into == DType::kDouble;
}

Outcome At(const Graph& graph, NodeId anchor, const RewriteContext&) {
  const Node& outer = graph.node(anchor);
  if (!outer.Is("Cast")) return NoMatch{};
  const Node* inner = ProducerIs(graph, outer.input(0), "Cast");
  if (inner == nullptr) return NoMatch{};
  const ValueId source = inner->input(0);
  const DType from = ElementType(graph, source);
  const auto middle = inner->GetInt("to", 0);
  if (from == DType::kUndefined || !middle) return NoMatch{};
  const auto through = static_cast<DType>(*middle);
  if (!FitsWithoutLoss(from, through)) {
    return Refuse("{} does not fit into {} without loss", DTypeName(from), DTypeName(through));
  }
  return Edit([=](Graph& changed) { ReplaceInput(changed, anchor, 0, source); });
}

}  // namespace

std::unique_ptr<Rewrite> MergeCasts() {
  return MakeExactRule("merge-casts", "Cast(Cast(x, A), B) -> Cast(x, B) when A loses nothing of x", &At);
}

}  // namespace rlc
