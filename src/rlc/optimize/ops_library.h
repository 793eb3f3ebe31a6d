// Where librlc_ops.so is, for the programs that register it.
#ifndef RLC_OPTIMIZE_OPS_LIBRARY_H_
#define RLC_OPTIMIZE_OPS_LIBRARY_H_

#include <string>
#include <vector>

#include "rlc/ir/model.h"

namespace rlc {

// $RLC_OPS_LIBRARY, or librlc_ops.so beside the executable; empty when there is none.
std::string FindOpsLibrary();

// What a session of this model is to register: the library if the model has compiled regions and there is one.
std::vector<std::string> LibrariesFor(const Model& model, const std::string& ops_library);

}  // namespace rlc

#endif  // RLC_OPTIMIZE_OPS_LIBRARY_H_
