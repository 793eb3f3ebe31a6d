#include "rlc/measure/energy.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "rlc/base/file.h"

namespace rlc {
namespace {

constexpr uint64_t kMaxCounterBytes = 4096;

Expected<uint64_t> ReadCounter(const std::string& path) {
  RLC_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxCounterBytes));
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) {
    return MakeError(ErrorKind::kUnavailable, "{}: not a number", path);
  }
  return value;
}

// "intel-rapl:0", not its sub-zone "intel-rapl:0:0".
bool IsTopZone(std::string_view name) {
  constexpr std::string_view kStem = "intel-rapl:";
  if (!name.starts_with(kStem) || name.size() == kStem.size()) return false;
  name.remove_prefix(kStem.size());
  return std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

Expected<Rapl> Rapl::Open(const std::string& root) {
  const auto unavailable = [&](std::string_view why) {
    return MakeError(ErrorKind::kUnavailable, "energy is not measured: {}", why);
  };
  const auto names = ListFolder(root, 4096);
  if (!names) return unavailable("there are no energy counters (" + root + ")");
  Rapl rapl;
  for (const std::string& name : *names) {
    if (!IsTopZone(name)) continue;
    const std::string folder = JoinPath(root, name);
    const auto label = ReadFile(folder + "/name", kMaxCounterBytes);
    // "psys" is the whole platform, packages included.
    if (!label || !label->starts_with("package")) continue;
    const std::string counter = folder + "/energy_uj";
    const auto range = ReadCounter(folder + "/max_energy_range_uj");
    if (const auto now = ReadCounter(counter); !now || !range || *range == 0) {
      return unavailable(counter + " cannot be read; as root: chmod a+r " + counter);
    }
    rapl.zones_.push_back({counter, *range});
  }
  if (rapl.zones_.empty()) return unavailable("no package has an energy counter below " + root);
  return rapl;
}

Expected<std::vector<uint64_t>> Rapl::Read() const {
  std::vector<uint64_t> counters;
  for (const Zone& zone : zones_) {
    RLC_ASSIGN_OR_RETURN(const uint64_t value, ReadCounter(zone.path));
    counters.push_back(value);
  }
  return counters;
}

double Rapl::Joules(const std::vector<uint64_t>& before, const std::vector<uint64_t>& after) const {
  RLC_CHECK_EQ(before.size(), zones_.size());
  RLC_CHECK_EQ(after.size(), zones_.size());
  double microjoules = 0;
  for (size_t i = 0; i < zones_.size(); ++i) {
    const uint64_t used = after[i] >= before[i] ? after[i] - before[i] : zones_[i].range - before[i] + after[i];
    microjoules += static_cast<double>(used);
  }
  return microjoules * 1e-6;
}

Expected<Estimate> MeasureEnergy(const Rapl& rapl, const std::function<Expected<void>()>& run,
                                 const EnergyOptions& options, const Clock& clock,
                                 const std::function<void(double)>& sleep) {
  struct Span {
    double joules = 0, seconds = 0;
  };
  const auto during = [&](const std::function<Expected<void>()>& work) -> Expected<Span> {
    const double begin = clock();
    RLC_ASSIGN_OR_RETURN(const auto before, rapl.Read());
    RLC_RETURN_IF_ERROR(work());
    RLC_ASSIGN_OR_RETURN(const auto after, rapl.Read());
    return Span{rapl.Joules(before, after), clock() - begin};
  };
  const auto idle = [&]() -> Expected<void> {
    sleep(options.idle_seconds);
    return {};
  };
  RLC_ASSIGN_OR_RETURN(const Span idle_before, during(idle));
  std::vector<Span> samples;
  std::vector<double> runs;
  for (int i = 0; i < std::max(options.samples, 1); ++i) {
    double count = 0;
    const auto work = [&]() -> Expected<void> {
      const double begin = clock();
      do {
        RLC_RETURN_IF_ERROR(run());
        ++count;
      } while (clock() - begin < options.sample_seconds);
      return {};
    };
    RLC_ASSIGN_OR_RETURN(const Span sample, during(work));
    samples.push_back(sample);
    runs.push_back(count);
  }
  RLC_ASSIGN_OR_RETURN(const Span idle_after, during(idle));
  const double idle_seconds = idle_before.seconds + idle_after.seconds;
  const double idle_watts = idle_seconds > 0 ? (idle_before.joules + idle_after.joules) / idle_seconds : 0;
  std::vector<double> millijoules;
  for (size_t i = 0; i < samples.size(); ++i) {
    millijoules.push_back((samples[i].joules - idle_watts * samples[i].seconds) * 1e3 / runs[i]);
  }
  return MedianEstimate(millijoules, "mJ");
}

}  // namespace rlc
