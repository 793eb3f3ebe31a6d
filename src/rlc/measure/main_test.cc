// The test program is its own measuring child, and has jobs that end badly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "rlc/measure/child_process.h"

int main(int argc, char** argv) {
  rlc::RegisterMeasureJob("test-echo", [](const rlc::Json& request) -> rlc::Expected<rlc::Json> { return request; });
  rlc::RegisterMeasureJob("test-fail", [](const rlc::Json&) -> rlc::Expected<rlc::Json> {
    return rlc::MakeError(rlc::ErrorKind::kInvalidInput, "the test wants it so");
  });
  rlc::RegisterMeasureJob("test-crash", [](const rlc::Json&) -> rlc::Expected<rlc::Json> { std::abort(); });
  rlc::RegisterMeasureJob("test-hang", [](const rlc::Json&) -> rlc::Expected<rlc::Json> {
    while (true) pause();
  });
  rlc::RegisterMeasureJob("test-eat", [](const rlc::Json& request) -> rlc::Expected<rlc::Json> {
    std::vector<char> memory(request.value("bytes", size_t{0}), 'x');
    return rlc::Json(memory[memory.size() / 2] == 'x');
  });
  if (rlc::IsMeasureChild(argc, argv)) return rlc::MeasureChildMain(argc, argv);
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
