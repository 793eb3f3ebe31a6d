#include "rlc/measure/fingerprint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rlc/base/file.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;

void Put(const std::string& root, const std::string& path, const std::string& text) {
  ASSERT_TRUE(MakeFolders(root + FolderOf(path)));
  ASSERT_TRUE(WriteFileAtomically(root + path, text));
}

void PutMachine(const std::string& root) {
  Put(root, "/proc/cpuinfo",
      "processor\t: 0\nmodel name\t: Fast CPU 9\ncpu family\t: 25\nmodel\t\t: 1\nstepping\t: 2\nflags\t\t: fpu sse4_2 "
      "avx2 hypervisor\n\n"
      "processor\t: 1\nmodel name\t: Fast CPU 9\nflags\t\t: fpu sse4_2 avx2 hypervisor\n");
  Put(root, "/proc/meminfo", "MemTotal:       1000 kB\nMemFree: 3 kB\n");
  Put(root, "/proc/sys/kernel/osrelease", "6.1.0-test\n");
  Put(root, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
  Put(root, "/sys/devices/system/cpu/cpu0/cache/index0/level", "1\n");
  Put(root, "/sys/devices/system/cpu/cpu0/cache/index0/type", "Data\n");
  Put(root, "/sys/devices/system/cpu/cpu0/cache/index0/size", "32K\n");
}

TEST(DescribeMachine, ReadsWhatTheKernelTells) {
  const auto folder = TempDir::Create();
  PutMachine(folder->path());
  const Machine machine = DescribeMachine(folder->path());
  EXPECT_EQ(machine.cpu, "Fast CPU 9");
  EXPECT_EQ(machine.family, 25);
  EXPECT_EQ(machine.stepping, 2);
  EXPECT_THAT(machine.features, ElementsAre("avx2", "sse4_2"));
  EXPECT_TRUE(machine.virtual_machine);
  EXPECT_EQ(machine.cores, 2);
  EXPECT_THAT(machine.caches, ElementsAre("L1 data 32K"));
  EXPECT_EQ(machine.memory_bytes, 1'024'000u);
  EXPECT_EQ(machine.governor, "performance");
  EXPECT_EQ(machine.kernel, "6.1.0-test");
  EXPECT_EQ(ToJson(machine)["fingerprint"], machine.Fingerprint());
}

TEST(Machine, FingerprintFollowsWhatDecidesSpeed) {
  const auto folder = TempDir::Create();
  PutMachine(folder->path());
  const Machine machine = DescribeMachine(folder->path());
  EXPECT_EQ(machine.Fingerprint().size(), 12u);
  EXPECT_EQ(machine.Fingerprint(), DescribeMachine(folder->path()).Fingerprint());
  Machine updated = machine;
  updated.kernel = "7.0";
  updated.memory_bytes = 5;
  EXPECT_EQ(updated.Fingerprint(), machine.Fingerprint());
  Machine slower = machine;
  slower.governor = "powersave";
  EXPECT_NE(slower.Fingerprint(), machine.Fingerprint());
  Machine newer = machine;
  newer.features.push_back("avx512_vnni");
  EXPECT_NE(newer.Fingerprint(), machine.Fingerprint());
}

TEST(DescribeMachine, LeavesEmptyWhatIsNotThere) {
  const auto folder = TempDir::Create();
  const Machine machine = DescribeMachine(folder->path());
  EXPECT_EQ(machine.cpu, "");
  EXPECT_EQ(machine.cores, 0);
  EXPECT_EQ(machine.Fingerprint().size(), 12u);
}

TEST(DescribeMachine, KnowsThisMachine) {
  const Machine machine = DescribeMachine();
  EXPECT_GT(machine.cores, 0);
  EXPECT_GT(machine.memory_bytes, 0u);
  EXPECT_GE(machine.usable_cores, 1);
  const int core = LeastBusyCore(0.01);
  EXPECT_GE(core, 0);
}

}  // namespace
}  // namespace rlc
