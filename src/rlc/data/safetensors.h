// safetensors files: 8 bytes header size, a JSON header, the arrays. https://github.com/huggingface/safetensors
//
// Read strictly: offsets must cover the data without gaps or overlaps. 8-bit floats and
// other types that Array does not have are refused with the array's name.
#ifndef RLC_DATA_SAFETENSORS_H_
#define RLC_DATA_SAFETENSORS_H_

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "rlc/base/error.h"
#include "rlc/data/array.h"

namespace rlc {

struct Safetensors {
  std::map<std::string, StoredArray, std::less<>> arrays;
  std::map<std::string, std::string> metadata;
};

// Bytes that `owner` keeps alive; `what` names them in errors.
Expected<Safetensors> ParseSafetensors(std::span<const std::byte> bytes, const std::shared_ptr<const void>& owner,
                                       std::string_view what);

// Maps the file.
Expected<Safetensors> ReadSafetensors(const std::string& path);

// Sorted by element size, then name, so that each array is aligned for its type: equal contents give equal bytes.
// Precondition, checked: names differ and are not "__metadata__".
Expected<void> WriteSafetensors(const std::string& path, std::span<const NamedArray> arrays,
                                const std::map<std::string, std::string>& metadata = {});

}  // namespace rlc

#endif  // RLC_DATA_SAFETENSORS_H_
