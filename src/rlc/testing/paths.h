// Where a test finds files of the source tree and programs of its own build folder.
#ifndef RLC_TESTING_PATHS_H_
#define RLC_TESTING_PATHS_H_

#include <string>
#include <string_view>

namespace rlc {

// The path of a file of the source tree: SourcePath("tests/data/relu.onnx"). Absolute.
std::string SourcePath(std::string_view relative);

// The path of a product of the build that the test belongs to: BuildPath("rlc"). Absolute.
std::string BuildPath(std::string_view relative);

}  // namespace rlc

#endif  // RLC_TESTING_PATHS_H_
