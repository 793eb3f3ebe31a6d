// The three disjoint uses of the user's data.
#ifndef RLC_DATA_SPLITS_H_
#define RLC_DATA_SPLITS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rlc/base/error.h"

namespace rlc {

// Rows of the three uses of the data; disjoint, each in random order.
struct Splits {
  std::vector<std::size_t> calibration;  // ranges, scales
  std::vector<std::size_t> search;       // accuracy while searching
  std::vector<std::size_t> final;        // touched once, for the verdict
};

struct SplitOptions {
  double calibration = 0.1;
  double search = 0.3;  // the rest is final
  uint64_t seed = 0;
};

// With labels (one per row) every class is spread over the splits in the same proportions. Error, kUsage: fractions
// that leave nothing for a split; kInvalidInput: fewer than 3 rows. Every split has at least one row.
Expected<Splits> MakeSplits(std::size_t rows, const SplitOptions& options = {}, std::span<const int64_t> labels = {});

}  // namespace rlc

#endif  // RLC_DATA_SPLITS_H_
