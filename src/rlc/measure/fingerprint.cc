#include "rlc/measure/fingerprint.h"

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "rlc/base/file.h"
#include "rlc/base/format.h"
#include "rlc/base/hash.h"

namespace rlc {
namespace {

// Those that runtimes dispatch on; the rest of the flags says nothing about speed.
const std::set<std::string>& KnownFeatures() {
  static const std::set<std::string> kFeatures = {
      "sse4_1",   "sse4_2",   "avx",      "f16c",        "fma",      "avx2",        "avx_vnni",
      "avx512f",  "avx512bw", "avx512vl", "avx512dq",    "avx512cd", "avx512_vnni", "avx512_bf16",
      "amx_tile", "amx_int8", "amx_bf16", "avx512_fp16", "amx_fp16", "asimd",       "asimddp",
      "i8mm",     "bf16",     "sve",      "sve2",        "sme"};
  return kFeatures;
}

constexpr uint64_t kMaxProcBytes = 16 << 20;

std::string FirstLine(const std::string& path) {
  auto text = ReadFile(path, kMaxProcBytes);
  if (!text) return {};
  return text->substr(0, text->find('\n'));
}

std::string Trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1));
}

int ToInt(const std::string& text) {
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

void ReadCpuInfo(const std::string& root, Machine& machine) {
  auto text = ReadFile(root + "/proc/cpuinfo", kMaxProcBytes);
  if (!text) return;
  std::map<std::string, std::string> first;  // of the first processor that has the field
  for (const std::string& line : SplitText(*text, '\n')) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string key = Trim(std::string_view(line).substr(0, colon));
    if (key == "processor") ++machine.cores;
    first.emplace(key, Trim(std::string_view(line).substr(colon + 1)));
  }
  machine.cpu = first["model name"];
  if (machine.cpu.empty() && !first["CPU part"].empty()) {  // aarch64 has numbers only
    machine.cpu = "implementer " + first["CPU implementer"] + " part " + first["CPU part"];
  }
  machine.family = ToInt(first["cpu family"]);
  machine.model = ToInt(first["model"]);
  machine.stepping = ToInt(first["stepping"]);
  const std::string& flags = first.contains("flags") ? first["flags"] : first["Features"];
  for (const std::string& flag : SplitText(flags, ' ')) {
    if (KnownFeatures().contains(flag)) machine.features.push_back(flag);
    if (flag == "hypervisor") machine.virtual_machine = true;
  }
  std::sort(machine.features.begin(), machine.features.end());
}

void ReadCaches(const std::string& root, Machine& machine) {
  const std::string folder = root + "/sys/devices/system/cpu/cpu0/cache";
  const auto names = ListFolder(folder, 64);
  if (!names) return;
  for (const std::string& name : *names) {
    if (!name.starts_with("index")) continue;
    const std::string base = JoinPath(folder, name);
    std::string type = FirstLine(base + "/type");
    std::transform(type.begin(), type.end(), type.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
    const std::string size = FirstLine(base + "/size");
    if (!size.empty()) machine.caches.push_back("L" + FirstLine(base + "/level") + " " + type + " " + size);
  }
}

uint64_t MemoryBytes(const std::string& root) {
  const std::string line = FirstLine(root + "/proc/meminfo");  // "MemTotal:       24609052 kB"
  uint64_t kilobytes = 0;
  const size_t digit = line.find_first_of("0123456789");
  if (!line.starts_with("MemTotal:") || digit == std::string::npos) return 0;
  std::from_chars(line.data() + digit, line.data() + line.size(), kilobytes);
  return kilobytes * 1024;
}

// Busy and all ticks of each core since the start of the machine.
struct Ticks {
  double busy = 0, all = 0;
};

std::map<int, Ticks> ReadTicks() {
  std::map<int, Ticks> ticks;
  const auto text = ReadFile("/proc/stat", kMaxProcBytes);
  if (!text) return ticks;
  for (const std::string& line : SplitText(*text, '\n')) {
    if (!line.starts_with("cpu") || line.size() < 4 || line[3] < '0' || line[3] > '9') continue;
    std::istringstream fields(line.substr(3));
    int core = 0;
    fields >> core;
    double value = 0;
    for (int i = 0; i < 8 && fields >> value; ++i) {
      const bool idle = i == 3 || i == 4;  // idle, iowait
      ticks[core].all += value;
      if (!idle) ticks[core].busy += value;
    }
  }
  return ticks;
}

}  // namespace

Machine DescribeMachine(const std::string& root) {
  Machine machine;
  ReadCpuInfo(root, machine);
  ReadCaches(root, machine);
  machine.memory_bytes = MemoryBytes(root);
  machine.governor = FirstLine(root + "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  machine.kernel = FirstLine(root + "/proc/sys/kernel/osrelease");
#if defined(__x86_64__)
  machine.architecture = "x86_64";
#elif defined(__aarch64__)
  machine.architecture = "aarch64";
#endif
  cpu_set_t allowed;
  machine.usable_cores = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : machine.cores;
  return machine;
}

std::string Machine::Fingerprint() const {
  Hasher hasher;
  hasher.AddText("rlc machine 1").AddText(cpu).AddText(architecture);
  hasher.AddInt(static_cast<uint64_t>(family))
      .AddInt(static_cast<uint64_t>(model))
      .AddInt(static_cast<uint64_t>(stepping));
  hasher.AddInt(features.size());
  for (const std::string& feature : features) hasher.AddText(feature);
  hasher.AddInt(static_cast<uint64_t>(cores));
  hasher.AddInt(caches.size());
  for (const std::string& cache : caches) hasher.AddText(cache);
  hasher.AddText(governor).AddInt(virtual_machine ? 1 : 0);
  return hasher.Hex().substr(0, 12);
}

Json ToJson(const Machine& machine) {
  return {{"cpu", machine.cpu},           {"architecture", machine.architecture},
          {"family", machine.family},     {"model", machine.model},
          {"stepping", machine.stepping}, {"features", machine.features},
          {"cores", machine.cores},       {"usable_cores", machine.usable_cores},
          {"caches", machine.caches},     {"memory_bytes", machine.memory_bytes},
          {"governor", machine.governor}, {"virtual_machine", machine.virtual_machine},
          {"kernel", machine.kernel},     {"fingerprint", machine.Fingerprint()}};
}

int LeastBusyCore(double seconds) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return -1;
  const auto before = ReadTicks();
  timespec pause{static_cast<time_t>(seconds), static_cast<long>((seconds - std::floor(seconds)) * 1e9)};
  nanosleep(&pause, nullptr);
  const auto after = ReadTicks();
  int best = -1;
  double least = 0;
  for (const auto& [core, now] : after) {
    const auto then = before.find(core);
    if (core >= CPU_SETSIZE || !CPU_ISSET(static_cast<size_t>(core), &allowed) || then == before.end()) continue;
    const double all = now.all - then->second.all;
    const double busy = all > 0 ? (now.busy - then->second.busy) / all : 0;
    // The last of equals: interrupts prefer the first cores.
    if (best < 0 || busy <= least) {
      best = core;
      least = busy;
    }
  }
  return best;
}

}  // namespace rlc
