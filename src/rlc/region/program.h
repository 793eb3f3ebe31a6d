// The program of a region: what its function's attribute "program" says, and what our kernel is compiled from.
//
//   rlc-region 1
//   <opset 17>
//   graph region (float[1,3,224,224] x, float[64,3,7,7] w, float[64] b) => (y) {
//     c = Conv<pads=[3,3,3,3], strides=[2,2], rlc_form="direct">(x, w, b)
//     y = Relu(c)
//   }
//
// The text form of rlc/ir/text.h: inputs in the order of the call, constant weights among them; a node may carry the
// form that its layer is to be computed in (ConvFormName). It comes from a file, so it is outside bytes: bounded, and
// checked before anything is made of it.
#ifndef RLC_REGION_PROGRAM_H_
#define RLC_REGION_PROGRAM_H_

#include <string>
#include <string_view>

#include "rlc/base/error.h"
#include "rlc/ir/graph.h"

namespace rlc {

inline constexpr std::string_view kFormAttribute = "rlc_form";

// What a program may be at most.
struct ProgramLimits {
  size_t bytes = size_t{4} << 20;
  size_t nodes = 20'000;
};

// `body`: the region as a graph without initializers (constants are inputs) and bodies.
std::string WriteProgram(const Graph& body);

// Error, kInvalidInput: another version, not a graph, too large, initializers or bodies in it, an unknown form. Whether
// its nodes can be compiled is seen when its constants are known (rlc/region/compile.h).
Expected<Graph> ReadProgram(std::string_view text, const ProgramLimits& limits = {});

}  // namespace rlc

#endif  // RLC_REGION_PROGRAM_H_
