// rlc-train REQUEST.json OUTDIR: trains a policy. Started by rlc; talks JSON (src/rlc/env/train_request.h).

#include <CLI/CLI.hpp>
#include <cstdio>

#include "rlc/base/interrupt.h"
#include "rlc/base/process.h"
#include "rlc/train/trainer.h"

namespace rlc {
namespace {

int Fail(const Error& error) {
  fmt::print(stderr, "rlc-train: {}\n", error.message);
  return static_cast<int>(error.kind);
}

Expected<void> Run(const std::string& request_path, const std::string& folder) {
  RLC_ASSIGN_OR_RETURN(const Json json, ReadJsonFile(request_path));
  auto request = TrainRequestFromJson(json);
  if (!request) return WithContext(std::move(request).error(), request_path);
  const int64_t total = request->ppo.total_timesteps;
  TrainHooks hooks{SteadyClock(), SystemClock(), StopToken::OfProcess(), [total](int64_t timesteps, double gain) {
                     fmt::print(stderr, "{}\n",
                                DumpJson({{"timesteps", timesteps}, {"total", total}, {"gain", gain}}, -1));
                   }};
  RLC_ASSIGN_OR_RETURN(const TrainSummary summary, Train(*request, folder, hooks));
  fmt::print("{}", DumpJson(ToJson(summary)));
  return {};
}

}  // namespace
}  // namespace rlc

int main(int argc, char** argv) {
  rlc::InstallInterruptHandlers();
  rlc::InstallOutOfMemoryExit();
  CLI::App app("rlc-train: trains a policy; started by rlc", "rlc-train");
  std::string request, folder;
  app.add_option("REQUEST", request, "what to train on, JSON, - for stdin")->required();
  app.add_option("OUTDIR", folder, "folder for policy.onnx, curve.csv, event file, checkpoint.pt, summary.json")
      ->required();
  try {
    app.parse(argc, argv);
    const auto done = rlc::Run(request, folder);
    return done ? 0 : rlc::Fail(done.error());
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : static_cast<int>(rlc::ErrorKind::kUsage);
  } catch (const std::exception& error) {
    return rlc::Fail({rlc::ErrorKind::kInternal, fmt::format("internal error: {}", error.what())});
  }
}
