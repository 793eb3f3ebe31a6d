#include <memory>

#include "command.h"
#include "rlc/optimize/doctor_job.h"

namespace rlc {

CommandRunner DoctorCommand(CLI::App& app) {
  auto options = std::make_shared<CommonOptions>();
  AddCommonOptions(app, *options, "j");
  app.footer("Example: rlc doctor");
  return [options]() -> CommandResult {
    const DoctorResult result = Diagnose(FindTrainer());
    RLC_RETURN_IF_ERROR(PrintOut(options->json ? DumpJson(ToJson(result)) : ToText(result)));
    return 0;
  };
}

}  // namespace rlc
