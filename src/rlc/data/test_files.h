// Paths of the files in testdata/, for the tests of this folder.
#ifndef RLC_DATA_TEST_FILES_H_
#define RLC_DATA_TEST_FILES_H_

#include <string>

#include "rlc/testing/paths.h"

namespace rlc {

inline std::string TestFile(const std::string& name) { return SourcePath("src/rlc/data/testdata/" + name); }

}  // namespace rlc

#endif  // RLC_DATA_TEST_FILES_H_
