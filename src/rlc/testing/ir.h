// Graphs in tests: from text, and matchers about them.
#ifndef RLC_TESTING_IR_H_
#define RLC_TESTING_IR_H_

#include <gmock/gmock.h>

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "rlc/ir/graph.h"
#include "rlc/ir/model.h"
#include "rlc/testing/expected.h"

namespace rlc {

// The text form (rlc/ir/text.h), which must be right and must verify: fails the test otherwise, by a C++ exception that
// GoogleTest reports. Layers are not numbered unless the text does; see NumberLayers.
Graph Parse(std::string_view text);
Model ParseToModel(std::string_view text);

void PrintTo(const Graph& graph, std::ostream* out);  // as text, large constants elided
void PrintTo(const Tensor& tensor, std::ostream* out);

// Operators of the main graph in order: EXPECT_THAT(graph, OpsAre({"Conv", "Relu"})).
std::vector<std::string> Ops(const Graph& graph);
::testing::Matcher<const Graph&> OpsAre(const std::vector<std::string>& ops);

// VerifyGraph finds nothing.
::testing::Matcher<const Graph&> IsValid();
// Inputs and outputs have the same names, types and order.
::testing::Matcher<const Graph&> HasInterfaceOf(const Graph& other);
// Equal down to names and bytes, as far as the text form tells (all values are compared).
::testing::Matcher<const Graph&> HasTextOf(const Graph& other);

// Same element type, dims and bytes.
::testing::Matcher<const Tensor&> SameTensor(const Tensor& wanted);
// A constant's elements as doubles; fails the test when there is no such constant.
std::vector<double> ConstantNamed(const Graph& graph, std::string_view name);
// The node whose first output has this name; fails the test when there is none.
NodeId NodeOf(const Graph& graph, std::string_view output);

}  // namespace rlc

#endif  // RLC_TESTING_IR_H_
