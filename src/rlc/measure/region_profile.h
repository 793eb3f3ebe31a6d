// What the steps of a model's compiled regions cost, layer by layer.
#ifndef RLC_MEASURE_REGION_PROFILE_H_
#define RLC_MEASURE_REGION_PROFILE_H_

#include <map>
#include <string>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/ir/model.h"
#include "rlc/measure/child_process.h"
#include "rlc/region/compile.h"

namespace rlc {

struct ProfiledStep {
  RegionStep step;
  double ms = 0;  // median over rounds
};

// Steps of all regions of the file, in order, each timed inside its run: on random inputs, one thread, pinned, in a
// child process, for about `seconds`. Error: a region whose input shapes are not known, or what compiling it gives.
Expected<std::vector<ProfiledStep>> ProfileRegionsInChild(const std::string& path, double seconds,
                                                          const ChildLimits& limits = {});

// Milliseconds by layer, the reorders that are made for it included.
std::map<int, double> MsByLayer(const std::vector<ProfiledStep>& steps);

}  // namespace rlc

#endif  // RLC_MEASURE_REGION_PROFILE_H_
