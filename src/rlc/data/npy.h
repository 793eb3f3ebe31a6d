// numpy's .npy files: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html, versions 1.0 to 3.0.
//
// Read: float16/32/64, all integers, bool; C or Fortran order; either byte order. Refused, with the reason: strings,
// objects (pickle), complex, structured and other types. bfloat16 does not exist in numpy: it is written as float32.
#ifndef RLC_DATA_NPY_H_
#define RLC_DATA_NPY_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/data/array.h"

namespace rlc {

// The array in `bytes`, which `owner` keeps alive; bytes stay where they are if they are in C order and little-endian.
// `what` names the array in errors. Bytes after the array are an error: the file is not what it seems.
Expected<StoredArray> ParseNpy(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                               std::string_view what);

// Maps the file.
Expected<StoredArray> ReadNpy(const std::string& path);

// Magic, version 1.0 and header, a multiple of 64 bytes; the elements follow.
std::string NpyHeader(ElementType type, const std::vector<int64_t>& shape);

// The array as it is written: bfloat16 becomes float32, everything else stays.
Array AsNpyType(const Array& array);

Expected<void> WriteNpy(const std::string& path, const Array& array);

}  // namespace rlc

#endif  // RLC_DATA_NPY_H_
