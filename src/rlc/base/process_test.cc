#include "rlc/base/process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "rlc/base/clock.h"
#include "rlc/base/file.h"

namespace rlc {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
#else
constexpr bool kSanitized = false;
#endif

ProcessSpec Shell(std::string script) { return {.argv = {"sh", "-c", std::move(script)}}; }

bool IsAlive(pid_t pid) {
  const auto status = ReadFile("/proc/" + std::to_string(pid) + "/stat");
  return status && status->find(") Z ") == std::string::npos;
}

TEST(Process, CapturesOutputAndExitCode) {
  const auto result = RunProcess(Shell("echo out; echo err >&2; exit 3"));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->end, ProcessEnd::kExited);
  EXPECT_EQ(result->exit_code, 3);
  EXPECT_EQ(result->out, "out\n");
  EXPECT_EQ(result->err, "err\n");
  EXPECT_FALSE(result->Succeeded());
  EXPECT_EQ(result->Describe(), "exited with code 3: err");
  EXPECT_GT(result->peak_rss_bytes, 100000U);
}

TEST(Process, PassesStdinEnvironmentAndFolder) {
  ProcessSpec spec = Shell("cat; echo $RLC_TEST; pwd; echo $#");
  spec.stdin_bytes = std::string(300000, 'x') + "\n";  // more than a pipe holds
  spec.environment = {{"RLC_TEST", "a b"}};
  spec.folder = "/";
  const auto result = RunProcess(spec);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->Succeeded());
  EXPECT_EQ(result->out, spec.stdin_bytes + "a b\n/\n0\n");
}

TEST(Process, ChildThatDoesNotReadItsStdinIsNoHarm) {
  ProcessSpec spec = Shell("exit 0");
  spec.stdin_bytes = std::string(1 << 20, 'x');
  const auto result = RunProcess(spec);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->Succeeded());
}

TEST(Process, UnknownProgramsAreErrors) {
  const auto in_path = RunProcess({.argv = {"rlc-no-such-program"}});
  ASSERT_FALSE(in_path);
  EXPECT_EQ(in_path.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(in_path.error().message, HasSubstr("no such program"));
  EXPECT_THAT(RunProcess({.argv = {"/no/such/program"}}).error().message, HasSubstr("cannot be run"));
  EXPECT_FALSE(RunProcess({.argv = {"/etc/passwd"}}));
  EXPECT_FALSE(RunProcess({.argv = {"sh"}, .folder = "/no/such/folder"}));
}

TEST(Process, DeathBySignalIsAResult) {
  const auto result = RunProcess(Shell("kill -SEGV $$"));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->end, ProcessEnd::kSignal);
  EXPECT_EQ(result->signal, SIGSEGV);
  EXPECT_THAT(result->Describe(), StartsWith("died of signal 11"));
}

TEST(Process, HangIsKilledWithItsGrandchildren) {
  ProcessSpec spec = Shell("sleep 100 & echo $!; wait");
  spec.limits.seconds = 0.3;
  const auto result = RunProcess(spec);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->end, ProcessEnd::kTimeLimit);
  EXPECT_GE(result->wall_seconds, 0.3);
  EXPECT_LT(result->wall_seconds, 60);  // far from 100, whatever the load
  EXPECT_THAT(result->Describe(), HasSubstr("the time limit"));
  const pid_t grandchild = std::stoi(result->out);
  for (int i = 0; i < 600 && IsAlive(grandchild); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(IsAlive(grandchild));
}

TEST(Process, GrandchildThatKeepsThePipesDoesNotKeepUs) {
  const Clock clock = SteadyClock();
  const double start = clock();
  const auto result = RunProcess(Shell("sleep 100 & echo done"));
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->Succeeded());
  EXPECT_EQ(result->out, "done\n");
  EXPECT_LT(clock() - start, 60);
}

TEST(Process, FloodIsCutOffNotStored) {
  ProcessSpec spec = Shell("head -c 3000000 /dev/zero; head -c 5000 /dev/zero >&2");
  spec.limits.stdout_bytes = 1000;
  spec.limits.stderr_bytes = 6000;
  const auto result = RunProcess(spec);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->Succeeded());
  EXPECT_EQ(result->out.size(), 1000U);
  EXPECT_TRUE(result->out_truncated);
  EXPECT_EQ(result->err.size(), 5000U);
  EXPECT_FALSE(result->err_truncated);
}

TEST(Process, EndlessFloodMeetsTheTimeLimit) {
  ProcessSpec spec = {.argv = {"cat", "/dev/zero"}};
  spec.limits.seconds = 0.3;
  spec.limits.stdout_bytes = 10;
  const auto result = RunProcess(spec);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->end, ProcessEnd::kTimeLimit);
}

TEST(Process, StopTokenKillsOrAsksFirst) {
  std::atomic<bool> stop{true};
  ProcessSpec spec = Shell("sleep 100");
  spec.limits.stop = StopToken(&stop);
  const auto killed = RunProcess(spec);
  ASSERT_TRUE(killed);
  EXPECT_EQ(killed->end, ProcessEnd::kStopped);

  stop = false;
  ProcessSpec polite = Shell("trap 'echo saved; exit 0' TERM; echo ready >&2; while :; do sleep 0.02; done");
  polite.limits.stop = StopToken(&stop);
  polite.limits.stop_grace_seconds = 20;
  polite.on_stderr = [&](std::string_view text) { stop = text == "ready\n"; };
  const auto asked = RunProcess(polite);
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->out, "saved\n");
  EXPECT_TRUE(asked->Succeeded());

  polite.limits.stop_grace_seconds = 0.1;
  polite.argv[2] = "trap '' TERM; echo ready >&2; while :; do sleep 0.02; done";
  stop = false;
  const auto stubborn = RunProcess(polite);
  ASSERT_TRUE(stubborn);
  EXPECT_EQ(stubborn->end, ProcessEnd::kStopped);
}

TEST(Process, MemoryLimitShowsAsOutOfMemory) {
  if (kSanitized) GTEST_SKIP() << "sanitizers reserve more address space than any limit";
  const auto allocate = [] {
    std::string bytes(std::size_t{1} << 30, 'x');
    return std::to_string(bytes.size());
  };
  const auto limited = RunInChild(allocate, {.address_space_bytes = std::size_t{512} << 20});
  ASSERT_TRUE(limited);
  EXPECT_EQ(limited->end, ProcessEnd::kOutOfMemory);
  EXPECT_EQ(limited->Describe(), "ran out of memory");
}

TEST(Process, KillFromOutsideCountsAsOutOfMemory) {
  const auto result = RunProcess(Shell("kill -KILL $$"));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->end, ProcessEnd::kOutOfMemory);
}

TEST(Process, ManyAtOnceFromThreads) {
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int k = 0; k < 5; ++k) {
        const std::string text = std::to_string(i * 10 + k);
        const auto result = RunProcess({.argv = {"echo", text}});
        if (result && result->out == text + "\n") ++good;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 20);
}

TEST(Process, LeavesNoZombiesAndNoOpenFiles) {
  const std::size_t before = ListFolder("/proc/self/fd")->size();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(RunProcess(Shell("exit 1")));
  EXPECT_FALSE(RunProcess({.argv = {"/no/such/program"}}));
  EXPECT_EQ(ListFolder("/proc/self/fd")->size(), before);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
}

TEST(RunInChild, GivesBytesBack) {
  const std::string bytes = std::string("a\0b", 3) + std::string(200000, 'x');
  const auto result = RunInChild([&] { return bytes; }, {});
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->Succeeded());
  EXPECT_EQ(result->payload, bytes);
}

TEST(RunInChild, CrashExceptionAndHangAreResults) {
  const auto crash = RunInChild([]() -> std::string { std::abort(); }, {});
  ASSERT_TRUE(crash);
  EXPECT_FALSE(crash->Succeeded());
  const auto exception = RunInChild([]() -> std::string { throw std::runtime_error("bad graph"); }, {});
  ASSERT_TRUE(exception);
  EXPECT_EQ(exception->exit_code, 5);
  EXPECT_EQ(exception->err, "bad graph");
  const auto hang = RunInChild(
      []() -> std::string {
        while (true) pause();
      },
      {.seconds = 0.2});
  ASSERT_TRUE(hang);
  EXPECT_EQ(hang->end, ProcessEnd::kTimeLimit);
}

TEST(RunInChild, ChangesInTheChildStayThere) {
  int value = 1;
  const auto result = RunInChild([&] { return std::to_string(++value); }, {});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->payload, "2");
  EXPECT_EQ(value, 1);
}

TEST(Process, KnowsItself) {
  const auto self = SelfExecutable();
  ASSERT_TRUE(self);
  EXPECT_THAT(*self, HasSubstr("_test"));
  EXPECT_GE(PeakRssBytes(), CurrentRssBytes() / 2);
  EXPECT_GT(CurrentRssBytes(), 100000U);
}

}  // namespace
}  // namespace rlc
