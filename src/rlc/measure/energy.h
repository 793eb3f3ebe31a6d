// Energy of runs, from the processor's own counters (RAPL), where they can be read. Nowhere else: what was not measured
// is not a number.
#ifndef RLC_MEASURE_ENERGY_H_
#define RLC_MEASURE_ENERGY_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "rlc/base/clock.h"
#include "rlc/base/error.h"
#include "rlc/base/statistics.h"

namespace rlc {

// The package counters below a powercap tree (intel-rapl:0, intel-rapl:1, ...; AMD's too). Their sub-zones (core, dram)
// are parts of a package or beside it and are not counted.
class Rapl {
 public:
  // Error, kUnavailable: no counters, or no permission to read them; the sentence says which and what to do.
  static Expected<Rapl> Open(const std::string& root = "/sys/class/powercap");

  // Counters in microjoules, one for each package, and joules between two readings: counters wrap at their own range,
  // so readings must be less than one wrap (minutes, at least) apart.
  Expected<std::vector<uint64_t>> Read() const;
  double Joules(const std::vector<uint64_t>& before, const std::vector<uint64_t>& after) const;

  size_t packages() const { return zones_.size(); }

 private:
  struct Zone {
    std::string path;
    uint64_t range = 0;
  };
  std::vector<Zone> zones_;
};

struct EnergyOptions {
  double idle_seconds = 1.0;    // how long to look at the idle machine, before and after
  double sample_seconds = 0.5;  // one sample: runs for about that long
  int samples = 5;
};

// Millijoules of one run with idle power subtracted, median over samples with its interval (unit "mJ"). `sleep` waits
// for that many seconds without using the processor. The whole package is measured: other programs' work counts too, so
// the interval says how quiet the machine was. Error: the counters stop working, or a run fails.
Expected<Estimate> MeasureEnergy(const Rapl& rapl, const std::function<Expected<void>()>& run,
                                 const EnergyOptions& options, const Clock& clock,
                                 const std::function<void(double)>& sleep);

}  // namespace rlc

#endif  // RLC_MEASURE_ENERGY_H_
