#include "rlc/measure/region_profile.h"

#include <sched.h>

#include <algorithm>
#include <utility>

#include "rlc/base/rng.h"
#include "rlc/base/statistics.h"
#include "rlc/measure/child_jobs.h"
#include "rlc/onnx/import.h"
#include "rlc/region/program.h"

namespace rlc {
namespace {

constexpr int kWarmUp = 3, kFewestRounds = 7, kMostRounds = 200;

// One region of a model, ready to run on inputs of its own.
struct ProfiledRegion {
  CompiledRegion compiled;
  std::vector<std::vector<float>> inputs, outputs;
  std::vector<std::vector<double>> seconds;  // by step

  void Run(bool counts) {
    std::vector<const float*> in;
    std::vector<float*> out;
    for (const auto& input : inputs) in.push_back(input.data());
    for (auto& output : outputs) out.push_back(output.data());
    const std::vector<double> taken = compiled.TimeSteps(in, out, SteadyClock());
    if (!counts) return;
    for (size_t step = 0; step < taken.size(); ++step) seconds[step].push_back(taken[step]);
  }
};

Expected<ProfiledRegion> Prepare(const Graph& graph, const Node& call, Rng& rng) {
  const auto text = call.GetString("program", "");
  RLC_ASSIGN_OR_RETURN(const Graph program, ReadProgram(text.value_or("")));
  std::vector<RegionInput> region_inputs;
  std::vector<std::vector<float>> inputs, outputs;
  for (const ValueId value : call.inputs) {
    RegionInput input;
    const Tensor* constant = graph.constant(value);
    const Type& type = graph.type(value);
    const auto dims = constant != nullptr              ? std::optional(constant->dims())
                      : type.is_tensor() && type.shape ? StaticDims(*type.shape)
                                                       : std::nullopt;
    if (!dims) {
      return MakeError(ErrorKind::kInvalidInput, "{}: the shape of '{}' is not known", call.op,
                       graph.value(value).name);
    }
    input.dims = *dims;
    if (constant != nullptr) input.constant = *constant;
    std::vector<float> values(constant != nullptr ? 0 : static_cast<size_t>(ElementCount(*dims).value_or(0)));
    for (float& element : values) element = static_cast<float>(rng.Normal());
    inputs.push_back(std::move(values));
    region_inputs.push_back(std::move(input));
  }
  RLC_ASSIGN_OR_RETURN(CompiledRegion compiled, CompiledRegion::Compile(program, region_inputs, 1));
  for (const auto& dims : compiled.output_dims()) {
    outputs.emplace_back(static_cast<size_t>(ElementCount(dims).value_or(0)));
  }
  const size_t steps = compiled.steps().size();
  return ProfiledRegion{std::move(compiled), std::move(inputs), std::move(outputs),
                        std::vector<std::vector<double>>(steps)};
}

void PinHere() {
  const int core = sched_getcpu();
  cpu_set_t set;
  CPU_ZERO(&set);
  if (core >= 0) CPU_SET(static_cast<size_t>(core), &set);
  if (core >= 0) sched_setaffinity(0, sizeof(set), &set);
}

}  // namespace

namespace internal {

Expected<Json> ProfileJob(const Json& request) {
  RLC_ASSIGN_OR_RETURN(const std::string path, GetString(request, "path"));
  RLC_ASSIGN_OR_RETURN(const double seconds, GetDouble(request, "seconds"));
  RLC_ASSIGN_OR_RETURN(const Model model, ReadModel(path));
  PinHere();
  Rng rng(0);
  std::vector<ProfiledRegion> regions;
  for (const NodeId id : model.graph.nodes()) {
    const Node& node = model.graph.node(id);
    if (!model.IsFunctionCall(node) || node.FindAttribute("program") == nullptr) continue;
    RLC_ASSIGN_OR_RETURN(ProfiledRegion region, Prepare(model.graph, node, rng));
    regions.push_back(std::move(region));
  }
  const Clock clock = SteadyClock();
  const double end = clock() + seconds;
  for (int round = -kWarmUp; round < kMostRounds && (round < kFewestRounds || clock() < end); ++round) {
    for (ProfiledRegion& region : regions) region.Run(round >= 0);
  }
  Json rows = Json::array();
  for (ProfiledRegion& region : regions) {
    for (size_t i = 0; i < region.seconds.size(); ++i) {
      const RegionStep& step = region.compiled.steps()[i];
      rows.push_back({{"node", step.node},
                      {"op", step.op},
                      {"implementation", step.implementation},
                      {"layer", step.layer},
                      {"constant_bytes", step.constant_bytes},
                      {"ms", 1000 * Median(region.seconds[i])}});
    }
  }
  return Json{{"steps", std::move(rows)}};
}

}  // namespace internal

Expected<std::vector<ProfiledStep>> ProfileRegionsInChild(const std::string& path, double seconds,
                                                          const ChildLimits& limits) {
  RLC_ASSIGN_OR_RETURN(const ChildReply reply,
                       RunMeasureChild("profile", {{"path", path}, {"seconds", seconds}}, "profiling " + path, limits));
  RLC_ASSIGN_OR_RETURN(const Json* rows, GetArray(reply.result, "steps"));
  std::vector<ProfiledStep> steps;
  for (const Json& row : *rows) {
    ProfiledStep profiled;
    RLC_ASSIGN_OR_RETURN(profiled.step.node, GetString(row, "node"));
    RLC_ASSIGN_OR_RETURN(profiled.step.op, GetString(row, "op"));
    RLC_ASSIGN_OR_RETURN(profiled.step.implementation, GetString(row, "implementation"));
    RLC_ASSIGN_OR_RETURN(const int64_t layer, GetInt(row, "layer"));
    RLC_ASSIGN_OR_RETURN(const int64_t bytes, GetInt(row, "constant_bytes"));
    RLC_ASSIGN_OR_RETURN(profiled.ms, GetDouble(row, "ms"));
    profiled.step.layer = static_cast<int>(layer);
    profiled.step.constant_bytes = static_cast<size_t>(bytes);
    steps.push_back(std::move(profiled));
  }
  return steps;
}

std::map<int, double> MsByLayer(const std::vector<ProfiledStep>& steps) {
  std::map<int, double> ms;
  for (const ProfiledStep& step : steps) {
    if (step.step.layer >= 0) ms[step.step.layer] += step.ms;
  }
  return ms;
}

}  // namespace rlc
