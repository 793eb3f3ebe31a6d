// rlc doctor: what this machine and this installation can do.
#ifndef RLC_OPTIMIZE_DOCTOR_JOB_H_
#define RLC_OPTIMIZE_DOCTOR_JOB_H_

#include <string>
#include <vector>

#include "rlc/base/json.h"
#include "rlc/measure/fingerprint.h"

namespace rlc {

struct Finding {
  std::string part;  // "ONNX Runtime", "trainer", "energy counters", ...
  bool good = false;
  std::string found;   // what is there
  std::string advice;  // what to do when it is not good, or what follows from it
};

struct DoctorResult {
  Machine machine;
  std::vector<Finding> findings;
};

// Looks at the CPU, the runtime, the trainer, the energy counters and the trial store. Changes nothing but may create
// the store. `trainer`: path of rlc-train, empty when there is none.
DoctorResult Diagnose(const std::string& trainer, const std::string& powercap_root = "/sys/class/powercap");

// The rlc-train that belongs to this program: $RLC_TRAIN, beside the executable, or in PATH; empty when there is none.
std::string FindTrainer();

Json ToJson(const DoctorResult& result);
std::string ToText(const DoctorResult& result);

}  // namespace rlc

#endif  // RLC_OPTIMIZE_DOCTOR_JOB_H_
