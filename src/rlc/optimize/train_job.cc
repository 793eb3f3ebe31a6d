#include "rlc/optimize/train_job.h"

#include "rlc/base/file.h"
#include "rlc/optimize/optimize_run.h"

namespace rlc {

Expected<TrainSummary> TrainPolicy(const OptimizeRequest& request, const std::string& log_folder) {
  OptimizeRun run(request);
  RLC_RETURN_IF_ERROR(PrepareTables(run));
  const std::string folder = log_folder.empty() ? JoinPath(run.folder->path(), "train") : log_folder;
  RLC_ASSIGN_OR_RETURN(const TrainedPolicy trained, TrainFor(run, request.seed, folder, kLongestTraining));
  RLC_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(trained.policy_path));
  RLC_RETURN_IF_ERROR(WriteFileAtomically(request.output, bytes));
  return trained.summary;
}

}  // namespace rlc
