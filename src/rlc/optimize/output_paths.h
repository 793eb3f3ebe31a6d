// Where files go that stand beside an output.
#ifndef RLC_OPTIMIZE_OUTPUT_PATHS_H_
#define RLC_OPTIMIZE_OUTPUT_PATHS_H_

#include <string>
#include <string_view>

namespace rlc {

// "a/small.onnx" + ".plan.json" -> "a/small.plan.json"; "-" (stdout) -> "rlc.plan.json" in the working folder.
inline std::string BesideOutput(std::string output, std::string_view ending) {
  constexpr std::string_view kOnnx = ".onnx";
  if (output == "-") output = "rlc";
  if (output.size() > kOnnx.size() && output.ends_with(kOnnx)) output.resize(output.size() - kOnnx.size());
  return output.append(ending);
}

}  // namespace rlc

#endif  // RLC_OPTIMIZE_OUTPUT_PATHS_H_
