#include "rlc/ort/runtime.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "rlc/base/file.h"
#include "rlc/base/process.h"
#include "rlc/testing/paths.h"

namespace rlc {
namespace {

using ::testing::HasSubstr;

// A process has one runtime, so other ones are tried in other processes: this program again, with a filter.
ProcessResult RunSelf(const std::string& filter, const std::string& root) {
  ProcessSpec spec;
  spec.argv = {SelfExecutable().value(), "--gtest_filter=" + filter, "--gtest_color=no"};
  spec.environment = {{"ONNXRUNTIME_ROOT", root}, {"RLC_TEST_OTHER_RUNTIME", "1"}};
  spec.limits.seconds = 300;
  return RunProcess(spec).value();
}

bool IsOtherRuntime() { return std::getenv("RLC_TEST_OTHER_RUNTIME") != nullptr; }

TEST(Runtime, LoadsOnceAndStays) {
  const auto first = LoadRuntime();
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_THAT(first->version, ::testing::StartsWith("1."));
  const auto second = LoadRuntime();
  EXPECT_EQ(first->path, second->path);
  EXPECT_TRUE(ChooseRuntime(first->path));
  EXPECT_FALSE(RuntimeCandidates().empty());
}

TEST(Runtime, RefusesToChangeOrToFindNothing) {
  ASSERT_TRUE(LoadRuntime());
  const auto folder = TempDir::Create();
  EXPECT_THAT(ChooseRuntime(folder->path()).error().message, HasSubstr("no libonnxruntime.so there"));
  const std::string fake = JoinPath(folder->path(), "libonnxruntime.so.1");
  ASSERT_TRUE(WriteFileAtomically(fake, "not a library"));
  EXPECT_THAT(ChooseRuntime(folder->path()).error().message, HasSubstr("already uses"));
}

TEST(RuntimeElsewhere, LoadFails) {
  if (!IsOtherRuntime()) GTEST_SKIP() << "run by the tests below";
  const auto loaded = LoadRuntime();
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().kind, ErrorKind::kUnavailable);
  std::printf("reason: %s\n", loaded.error().message.c_str());
}

TEST(Runtime, SaysWhatIsWrongWithAnother) {
  if (IsOtherRuntime()) GTEST_SKIP();
  const auto folder = TempDir::Create();
  ProcessResult empty = RunSelf("RuntimeElsewhere.LoadFails", folder->path());
  EXPECT_TRUE(empty.Succeeded()) << empty.out;
  EXPECT_THAT(empty.out, HasSubstr("ONNXRUNTIME_ROOT=" + folder->path()));

  ASSERT_TRUE(WriteFileAtomically(JoinPath(folder->path(), "libonnxruntime.so"), "not a library"));
  const ProcessResult broken = RunSelf("RuntimeElsewhere.LoadFails", folder->path());
  EXPECT_TRUE(broken.Succeeded()) << broken.out;
  EXPECT_THAT(broken.out, HasSubstr("cannot be loaded"));
}

TEST(Runtime, RefusesOneThatIsTooOld) {
  const std::string root = SourcePath(".deps/onnxruntime-1.20");
  if (IsOtherRuntime() || !IsFolder(root)) GTEST_SKIP() << "needs " << root;
  const ProcessResult old = RunSelf("RuntimeElsewhere.LoadFails", root);
  EXPECT_TRUE(old.Succeeded()) << old.out << old.err;
  EXPECT_THAT(old.out, HasSubstr("ONNX Runtime 1.20.1 is too old, rlc needs 1.21 or newer"));
  EXPECT_EQ(old.err, "");
}

TEST(Runtime, EverythingHoldsOnTheOldestThatIsSupported) {
  const std::string root = SourcePath(".deps/onnxruntime-1.21");
  if (IsOtherRuntime() || !IsFolder(root)) GTEST_SKIP() << "needs " << root;
  const ProcessResult run = RunSelf("Session.*:BoundRun.*:WhatRan.*:ReadRuntimeGraph.*:OrtConstantEvaluator.*", root);
  EXPECT_TRUE(run.Succeeded()) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("[  PASSED  ]"));
}

}  // namespace
}  // namespace rlc
