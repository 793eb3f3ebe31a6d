// Inside this layer only: the table of jobs that every measuring child has.
#ifndef RLC_MEASURE_CHILD_JOBS_H_
#define RLC_MEASURE_CHILD_JOBS_H_

#include <map>
#include <string>

#include "rlc/measure/child_process.h"

namespace rlc::internal {

std::map<std::string, MeasureJob> BuiltInJobs();

Expected<Json> ProfileJob(const Json& request);  // region_profile.cc

}  // namespace rlc::internal

#endif  // RLC_MEASURE_CHILD_JOBS_H_
