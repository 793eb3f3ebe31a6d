// rlc bench: how long models take, side by side.
#ifndef RLC_OPTIMIZE_BENCH_JOB_H_
#define RLC_OPTIMIZE_BENCH_JOB_H_

#include <cstdint>
#include <string>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/base/interrupt.h"
#include "rlc/ir/model.h"
#include "rlc/measure/child.h"
#include "rlc/measure/fingerprint.h"
#include "rlc/measure/inputs.h"
#include "rlc/measure/timing.h"

namespace rlc {

struct BenchRequest {
  std::vector<std::string> models;  // files; the first is the baseline
  OptLevel level = OptLevel::kAll;
  RunShapes shapes;
  int threads = 1;
  double seconds = 10;      // of timing, all models together
  std::string ops_library;  // registered for models with compiled regions; empty: they run as plain functions
  uint64_t seed = 0;
  StopToken stop;
};

struct BenchResult {
  TimingResult timing;
  Machine machine;
  std::string runtime;  // version
  std::vector<int64_t> file_bytes;
};

// Inputs and outputs of a model as a session would show them, without making one.
std::vector<InterfaceValue> InputsOf(const Model& model);
std::vector<InterfaceValue> OutputsOf(const Model& model);

// Times the files interleaved in a child process, on random inputs. Error: what reading or running one of them gives.
Expected<BenchResult> BenchFiles(const BenchRequest& request);

Json ToJson(const BenchResult& result);
std::string ToText(const BenchResult& result);  // a table and what it means

}  // namespace rlc

#endif  // RLC_OPTIMIZE_BENCH_JOB_H_
