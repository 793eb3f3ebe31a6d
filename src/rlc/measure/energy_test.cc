#include "rlc/measure/energy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rlc/base/file.h"

namespace rlc {
namespace {

using ::testing::HasSubstr;

// A powercap tree on disk, whose counters follow what the test consumes.
class FakeRapl {
 public:
  FakeRapl() : folder_(TempDir::Create().value()) {}
  const std::string& root() const { return folder_.path(); }

  void AddZone(const std::string& zone, const std::string& name, uint64_t counter, uint64_t range) {
    const std::string path = JoinPath(root(), zone);
    ASSERT_TRUE(MakeFolders(path));
    ASSERT_TRUE(WriteFileAtomically(path + "/name", name + "\n"));
    ASSERT_TRUE(WriteFileAtomically(path + "/max_energy_range_uj", std::to_string(range) + "\n"));
    Set(zone, counter);
  }
  void Set(const std::string& zone, uint64_t counter) {
    ASSERT_TRUE(WriteFileAtomically(JoinPath(root(), zone) + "/energy_uj", std::to_string(counter) + "\n"));
  }

 private:
  TempDir folder_;
};

TEST(Rapl, CountsPackagesOnly) {
  FakeRapl fake;
  fake.AddZone("intel-rapl:0", "package-0", 1'000'000, 1u << 30);
  fake.AddZone("intel-rapl:1", "package-1", 500, 1u << 30);
  fake.AddZone("intel-rapl:2", "psys", 0, 1u << 30);
  fake.AddZone("intel-rapl:0:0", "core", 0, 1u << 30);
  const auto rapl = Rapl::Open(fake.root());
  ASSERT_TRUE(rapl) << rapl.error().message;
  EXPECT_EQ(rapl->packages(), 2u);
  const auto before = rapl->Read();
  fake.Set("intel-rapl:0", 3'000'000);
  fake.Set("intel-rapl:1", 1'000'500);
  const auto after = rapl->Read();
  ASSERT_TRUE(before && after);
  EXPECT_DOUBLE_EQ(rapl->Joules(*before, *after), 3.0);
}

TEST(Rapl, CountersMayWrap) {
  FakeRapl fake;
  fake.AddZone("intel-rapl:0", "package-0", 9'000'000, 10'000'000);
  const auto rapl = Rapl::Open(fake.root());
  ASSERT_TRUE(rapl);
  const auto before = rapl->Read();
  fake.Set("intel-rapl:0", 500'000);
  EXPECT_DOUBLE_EQ(rapl->Joules(*before, *rapl->Read()), 1.5);
}

TEST(Rapl, SaysWhyItCannotMeasure) {
  FakeRapl fake;
  EXPECT_THAT(Rapl::Open(fake.root()).error().message, HasSubstr("no package has an energy counter"));
  EXPECT_THAT(Rapl::Open("/nowhere/at/all").error().message, HasSubstr("there are no energy counters"));
  fake.AddZone("intel-rapl:0", "package-0", 0, 0);
  const auto error = Rapl::Open(fake.root()).error();
  EXPECT_EQ(error.kind, ErrorKind::kUnavailable);
  EXPECT_THAT(error.message, HasSubstr("chmod a+r"));
}

TEST(MeasureEnergy, SubtractsIdlePower) {
  FakeRapl fake;
  fake.AddZone("intel-rapl:0", "package-0", 0, uint64_t{1} << 40);
  const auto rapl = Rapl::Open(fake.root());
  ASSERT_TRUE(rapl);
  ManualClock clock;
  double microjoules = 0;
  const auto consume = [&](double seconds, double watts) {
    clock.Advance(seconds);
    microjoules += seconds * watts * 1e6;
    fake.Set("intel-rapl:0", static_cast<uint64_t>(microjoules));
  };
  // 10 W idle; a run takes 10 ms at 30 W: 0.3 J, of which 0.1 J would have been used anyway.
  const auto run = [&]() -> Expected<void> {
    consume(0.01, 30);
    return {};
  };
  const auto energy = MeasureEnergy(*rapl, run, {}, clock.AsClock(), [&](double seconds) { consume(seconds, 10); });
  ASSERT_TRUE(energy) << energy.error().message;
  EXPECT_NEAR(energy->value, 200, 0.1);
  EXPECT_EQ(energy->unit, "mJ");
  EXPECT_EQ(energy->samples, 5u);
}

TEST(MeasureEnergy, FailsWithTheRunAndWithTheCounters) {
  FakeRapl fake;
  fake.AddZone("intel-rapl:0", "package-0", 0, 1000);
  const auto rapl = Rapl::Open(fake.root());
  ManualClock clock;
  const auto sleep = [&](double seconds) { clock.Advance(seconds); };
  const auto broken = [] { return Expected<void>(MakeError(ErrorKind::kInternal, "it broke")); };
  EXPECT_THAT(MeasureEnergy(*rapl, broken, {}, clock.AsClock(), sleep).error().message, HasSubstr("it broke"));
  ASSERT_TRUE(WriteFileAtomically(fake.root() + "/intel-rapl:0/energy_uj", "rubbish"));
  const auto run = [&]() -> Expected<void> {
    clock.Advance(1);
    return {};
  };
  EXPECT_THAT(MeasureEnergy(*rapl, run, {}, clock.AsClock(), sleep).error().message, HasSubstr("not a number"));
}

}  // namespace
}  // namespace rlc
