// The metric cmd:PROGRAM of metrics.h.
#ifndef RLC_DATA_COMMAND_METRIC_H_
#define RLC_DATA_COMMAND_METRIC_H_

#include <memory>
#include <string>

#include "rlc/data/metrics.h"

namespace rlc {

std::unique_ptr<Metric> MakeCommandMetric(std::string command, const CommandOptions& options);

}  // namespace rlc

#endif  // RLC_DATA_COMMAND_METRIC_H_
