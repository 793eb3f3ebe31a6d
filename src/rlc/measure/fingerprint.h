// The machine that numbers belong to.
#ifndef RLC_MEASURE_FINGERPRINT_H_
#define RLC_MEASURE_FINGERPRINT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "rlc/base/json.h"

namespace rlc {

struct Machine {
  std::string cpu;                          // "AMD EPYC 7763 64-Core Processor"
  std::string architecture;                 // "x86_64"
  int family = 0, model = 0, stepping = 0;  // of the CPU, where it has them
  std::vector<std::string> features;  // of those that decide which kernels run, sorted: "avx2", "avx512_vnni", ...
  int cores = 0;                      // online
  int usable_cores = 0;               // that this process may run on
  std::vector<std::string> caches;    // "L1 data 32K", "L2 unified 512K", ...
  uint64_t memory_bytes = 0;
  std::string governor;  // of frequency; "" where it cannot be read (virtual machines)
  bool virtual_machine = false;
  std::string kernel;  // "6.1.0-32-amd64"
  // 12 hex digits over what decides speed: CPU, features, cores, caches, governor. Not kernel and memory size: trials
  // outlive an update.
  std::string Fingerprint() const;
};

// Reads /proc and /sys below `root` ("" in earnest; a fake tree in tests). What cannot be read stays empty.
Machine DescribeMachine(const std::string& root = "");

Json ToJson(const Machine& machine);  // with "fingerprint"

// The allowed core that was least busy over the last `seconds`, -1 when unknown; reads /proc/stat twice.
int LeastBusyCore(double seconds = 0.05);

}  // namespace rlc

#endif  // RLC_MEASURE_FINGERPRINT_H_
