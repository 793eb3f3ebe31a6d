#include "rlc/optimize/apply_job.h"

#include "rlc/base/file.h"
#include "rlc/base/hash.h"
#include "rlc/onnx/export.h"
#include "rlc/onnx/import.h"
#include "rlc/optimize/services.h"
#include "rlc/rewrite/regions.h"

namespace rlc {

Expected<std::string> HashModelFile(const std::string& path) {
  RLC_ASSIGN_OR_RETURN(const auto file, MappedFile::Open(path));
  return ContentHash(file->bytes());
}

Expected<ApplyResult> ApplyFile(const std::string& model_path, const std::string& plan_path, const std::string& output,
                                bool without_regions) {
  RLC_ASSIGN_OR_RETURN(const Model model, ReadModel(model_path));
  RLC_ASSIGN_OR_RETURN(const std::string hash, HashModelFile(model_path));
  RLC_ASSIGN_OR_RETURN(Plan plan, ReadPlan(plan_path));
  if (plan.model_hash != hash) {
    return MakeError(
        ErrorKind::kInvalidInput,
        "{} was made for a model with content hash {}, but {} has {}; apply it to the model it was made for", plan_path,
        plan.model_hash, model_path, hash);
  }
  if (without_regions) std::erase_if(plan.actions, [](const Action& a) { return a.rewrite == kCompileRegions; });
  StandardServices services(model);
  RLC_ASSIGN_OR_RETURN(const Model applied, ApplyPlan(model, plan, services.get()));
  RLC_RETURN_IF_ERROR(WriteModel(applied, output));
  return ApplyResult{plan.actions.size(), static_cast<int>(model.graph.nodes().size()),
                     static_cast<int>(applied.graph.nodes().size())};
}

}  // namespace rlc
