// --data and what goes with it.
#ifndef RLC_TOOLS_RLC_DATA_OPTIONS_H_
#define RLC_TOOLS_RLC_DATA_OPTIONS_H_

#include "model_options.h"
#include "rlc/optimize/data_setup.h"

namespace rlc {

struct DataOptions {
  DataRequest request;
  ShapeOptions shapes;

  void Declare(CLI::App& app);
  Expected<DataRequest> Parse(uint64_t seed) const;
};

}  // namespace rlc

#endif  // RLC_TOOLS_RLC_DATA_OPTIONS_H_
