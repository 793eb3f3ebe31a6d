#include "rlc/optimize/doctor_job.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "rlc/base/file.h"
#include "rlc/base/format.h"
#include "rlc/base/process.h"
#include "rlc/measure/energy.h"
#include "rlc/measure/store.h"
#include "rlc/ort/runtime.h"

namespace rlc {
namespace {

bool Has(const Machine& machine, std::string_view feature) {
  return std::find(machine.features.begin(), machine.features.end(), feature) != machine.features.end();
}

Finding AboutRuntime() {
  const auto runtime = LoadRuntime();
  if (runtime) return {"ONNX Runtime", true, fmt::format("{} at {}", runtime->version, runtime->path), ""};
  return {"ONNX Runtime", false, runtime.error().message,
          "run 'make setup', or set ONNXRUNTIME_ROOT to a folder with libonnxruntime.so"};
}

Finding AboutIntegers(const Machine& machine) {
  if (machine.architecture != "x86_64") return {"int8 kernels", true, machine.architecture, ""};
  if (Has(machine, "avx512_vnni") || Has(machine, "avx_vnni")) return {"int8 kernels", true, "VNNI", ""};
  return {"int8 kernels", true, "no VNNI: sums of two 8-bit products saturate in 16 bits",
          "weights are quantized to 7 bits here so that nothing saturates; int8 gains less than on newer CPUs"};
}

Finding AboutEnergy(const std::string& root) {
  const auto rapl = Rapl::Open(root);
  if (rapl) return {"energy counters", true, fmt::format("RAPL, {} package(s)", rapl->packages()), ""};
  return {"energy counters", false, rapl.error().message, "energy is reported as 'not measured'"};
}

Finding AboutCores(const Machine& machine) {
  const std::string found = fmt::format("{} usable of {}{}", machine.usable_cores, machine.cores,
                                        machine.virtual_machine ? ", virtual machine" : "");
  const std::string governor =
      machine.governor.empty() ? "frequency governor cannot be read" : "governor " + machine.governor;
  const bool good = machine.usable_cores >= 2;
  return {"cores", good, fmt::format("{}; {}", found, governor),
          good ? "" : "with one core, everything else that runs disturbs timings"};
}

Finding AboutStore() {
  const auto path = TrialStore::DefaultPath();
  if (!path) return {"trial store", false, path.error().message, "name another file with --store FILE"};
  const auto store = TrialStore::Open(*path);
  if (!store) return {"trial store", false, store.error().message, "name another file with --store FILE"};
  return {"trial store", true, *path, ""};
}

}  // namespace

std::string FindTrainer() {
  if (const char* named = std::getenv("RLC_TRAIN"); named != nullptr && *named != '\0') return named;
  if (const auto self = SelfExecutable()) {
    const std::string beside = JoinPath(FolderOf(*self), "rlc-train");
    if (FileExists(beside)) return beside;
  }
  const char* path = std::getenv("PATH");
  for (const std::string& folder : SplitText(path == nullptr ? "" : path, ':')) {
    const std::string candidate = JoinPath(folder, "rlc-train");
    if (!folder.empty() && access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return "";
}

DoctorResult Diagnose(const std::string& trainer, const std::string& powercap_root) {
  DoctorResult result;
  result.machine = DescribeMachine();
  const bool has_trainer = !trainer.empty() && FileExists(trainer);
  result.findings = {AboutCores(result.machine),
                     AboutIntegers(result.machine),
                     AboutRuntime(),
                     {"trainer", has_trainer, has_trainer ? trainer : "rlc-train not found",
                      has_trainer ? "" : "policies cannot be trained here; --policy FILE and all other methods work"},
                     AboutEnergy(powercap_root),
                     AboutStore()};
  return result;
}

Json ToJson(const DoctorResult& result) {
  Json findings = Json::array();
  for (const Finding& finding : result.findings) {
    findings.push_back(
        {{"part", finding.part}, {"good", finding.good}, {"found", finding.found}, {"advice", finding.advice}});
  }
  return {{"machine", ToJson(result.machine)}, {"findings", std::move(findings)}};
}

std::string ToText(const DoctorResult& result) {
  const Machine& machine = result.machine;
  std::string text = fmt::format("{} ({}), fingerprint {}\n", machine.cpu, machine.architecture, machine.Fingerprint());
  text += fmt::format("features: {}\ncaches: {}; memory {}\n\n", fmt::join(machine.features, " "),
                      fmt::join(machine.caches, ", "), FormatBytes(static_cast<double>(machine.memory_bytes)));
  for (const Finding& finding : result.findings) {
    text += fmt::format("{} {:<16} {}\n", finding.good ? "ok     " : "missing", finding.part, finding.found);
    if (!finding.advice.empty()) text += fmt::format("{:25}{}\n", "", finding.advice);
  }
  return text;
}

}  // namespace rlc
