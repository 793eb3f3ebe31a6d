#include "rlc/data/splits.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "rlc/base/rng.h"

namespace rlc {
namespace {

constexpr std::size_t kParts = 3;

// Hands out positions 0, 1, 2 ... to the parts so that after every single one each part has its share, to within one:
// rows that are sorted by class are spread class by class. Each goes to the part that is furthest behind.
std::array<std::vector<std::size_t>, kParts> Deal(const std::vector<std::size_t>& rows,
                                                  const std::array<double, kParts>& shares) {
  std::array<std::vector<std::size_t>, kParts> parts;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::size_t neediest = 0;
    double most = -1;
    for (std::size_t part = 0; part < kParts; ++part) {
      const double missing = shares[part] * static_cast<double>(i + 1) - static_cast<double>(parts[part].size());
      if (missing > most) {
        most = missing;
        neediest = part;
      }
    }
    parts[neediest].push_back(rows[i]);
  }
  return parts;
}

// Few rows and a small share can leave a part without any: it takes one from the largest.
void FillEmpty(std::array<std::vector<std::size_t>, kParts>& parts) {
  for (std::vector<std::size_t>& part : parts) {
    if (!part.empty()) continue;
    auto& largest =
        *std::max_element(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
    part.push_back(largest.back());
    largest.pop_back();
  }
}

}  // namespace

Expected<Splits> MakeSplits(std::size_t rows, const SplitOptions& options, std::span<const int64_t> labels) {
  RLC_CHECK(labels.empty() || labels.size() == rows);
  const double final_share = 1 - options.calibration - options.search;
  if (!(options.calibration > 0 && options.search > 0 && final_share > 1e-9)) {
    return MakeError(
        ErrorKind::kUsage,
        "splits of {} for calibration and {} for search leave {} for the final check; each needs more than 0",
        options.calibration, options.search, final_share);
  }
  if (rows < kParts) {
    return MakeError(ErrorKind::kInvalidInput,
                     "the data have {} samples; at least 3 are needed, for calibration, search and the final check",
                     rows);
  }
  std::vector<std::size_t> order(rows);
  std::iota(order.begin(), order.end(), std::size_t{0});
  Rng rng(options.seed);
  rng.Shuffle(order);
  if (!labels.empty()) {
    // By class, and within a class in the shuffled order.
    std::vector<std::pair<int64_t, std::size_t>> keyed(rows);
    for (std::size_t i = 0; i < rows; ++i) keyed[i] = {labels[order[i]], i};
    std::sort(keyed.begin(), keyed.end());
    const std::vector<std::size_t> shuffled = std::exchange(order, std::vector<std::size_t>(rows));
    for (std::size_t i = 0; i < rows; ++i) order[i] = shuffled[keyed[i].second];
  }
  auto parts = Deal(order, {options.calibration, options.search, final_share});
  FillEmpty(parts);
  // Sorted by class so far: whoever takes the first few must get a random few.
  for (std::vector<std::size_t>& part : parts) rng.Shuffle(part);
  return Splits{std::move(parts[0]), std::move(parts[1]), std::move(parts[2])};
}

}  // namespace rlc
