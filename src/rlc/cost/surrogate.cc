#include "rlc/cost/surrogate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace rlc {
namespace {

// Solves (A + ridge I) x = b for a symmetric positive semi-definite A [n, n] by Cholesky. n is the
// smaller of the numbers of measured candidates and entries: a few hundred.
std::vector<double> SolveRidge(std::vector<double> a, std::vector<double> b, double ridge) {
  const size_t n = b.size();
  for (size_t i = 0; i < n; ++i) a[i * n + i] += ridge;
  for (size_t j = 0; j < n; ++j) {
    for (size_t i = j; i < n; ++i) {
      double sum = a[i * n + j];
      for (size_t k = 0; k < j; ++k) sum -= a[i * n + k] * a[j * n + k];
      a[i * n + j] = i == j ? std::sqrt(sum) : sum / a[j * n + j];
    }
  }
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < i; ++k) b[i] -= a[i * n + k] * b[k];
    b[i] /= a[i * n + i];
  }
  for (size_t i = n; i-- > 0;) {
    for (size_t k = i + 1; k < n; ++k) b[i] -= a[k * n + i] * b[k];
    b[i] /= a[i * n + i];
  }
  return b;
}

using Rows = std::vector<std::vector<double>>;

// rows[i] * rows[j] for all pairs, [n, n].
std::vector<double> Gram(const Rows& rows) {
  const size_t n = rows.size();
  std::vector<double> gram(n * n);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      const double product = std::inner_product(rows[i].begin(), rows[i].end(), rows[j].begin(), 0.0);
      gram[i * n + j] = gram[j * n + i] = product;
    }
  }
  return gram;
}

Rows Transposed(const Rows& rows, size_t columns) {
  Rows turned(columns, std::vector<double>(rows.size()));
  for (size_t i = 0; i < rows.size(); ++i) {
    for (size_t j = 0; j < columns; ++j) turned[j][i] = rows[i][j];
  }
  return turned;
}

std::vector<double> Times(const Rows& rows, const std::vector<double>& x) {
  std::vector<double> product;
  product.reserve(rows.size());
  for (const auto& row : rows) product.push_back(std::inner_product(row.begin(), row.end(), x.begin(), 0.0));
  return product;
}

// Weights w, one for each entry, with sum of w over a candidate ~ its residual: w = (X' X + ridge I)^-1 X' r, where X
// says which entries a candidate has, row and residual times its `importance`. With fewer candidates than entries
// solved in their space, X' (X X' + ridge I)^-1 r, which is the same. The empty candidate has none: nothing that is
// fitted here can move its estimate.
std::vector<double> FitResiduals(std::span<const Surrogate::Measured> measured, std::vector<double> residuals,
                                 const std::vector<double>& importance, size_t entries) {
  Rows has(measured.size(), std::vector<double>(entries, 0));
  for (size_t i = 0; i < measured.size(); ++i) {
    for (int entry : measured[i].candidate) has[i][static_cast<size_t>(entry)] = importance[i];
    residuals[i] *= importance[i];
  }
  constexpr double kRidge = 1.0;  // one entry's worth of noise: a single measurement moves an entry half way
  const Rows turned = Transposed(has, entries);
  if (entries < measured.size()) return SolveRidge(Gram(turned), Times(turned, residuals), kRidge);
  return Times(turned, SolveRidge(Gram(has), residuals, kRidge));
}

Estimate Guess(double value, const char* unit) { return {value, value, value, 0, unit}; }

double SumOver(const std::vector<double>& weights, const Candidate& candidate) {
  double sum = 0;
  for (int entry : candidate) sum += weights[static_cast<size_t>(entry)];
  return sum;
}

Json NumberOrNull(double value) { return std::isnan(value) ? Json() : Json(value); }

Expected<double> GetNumberOrNan(const Json& json, std::string_view key) {
  RLC_ASSIGN_OR_RETURN(const Json* field, GetField(json, key));
  if (field->is_null()) return std::numeric_limits<double>::quiet_NaN();
  return GetDouble(json, key);
}

Expected<LayerTimes> TimesFromJson(const Json& json) {
  LayerTimes times;
  RLC_ASSIGN_OR_RETURN(times.float_ms, GetNumberOrNan(json, "float_ms"));
  RLC_ASSIGN_OR_RETURN(times.int8_ms, GetNumberOrNan(json, "int8_ms"));
  RLC_ASSIGN_OR_RETURN(times.quantize_ms, GetNumberOrNan(json, "quantize_ms"));
  RLC_ASSIGN_OR_RETURN(times.dequantize_ms, GetNumberOrNan(json, "dequantize_ms"));
  return times;
}

double OrZero(double value) { return std::isnan(value) ? 0.0 : value; }

}  // namespace

Surrogate::Surrogate(const Catalogue& catalogue, SurrogateTables tables)
    : catalogue_(&catalogue),
      tables_(std::move(tables)),
      latency_correction_(catalogue.entries.size(), 0.0),
      drop_correction_(catalogue.entries.size(), 0.0),
      reads_layer_(catalogue.layers.size(), false),
      factor_(catalogue.layers.size(), 1.0),
      quantized_(catalogue.layers.size(), 0) {
  RLC_CHECK_EQ(tables_.layers.size(), catalogue.layers.size());
  RLC_CHECK_EQ(tables_.entry_drop.size(), catalogue.entries.size());
  RLC_CHECK(tables_.baseline_ms > 0);
  for (const LayerEntry& layer : catalogue.layers) {
    for (int reader : layer.readers) reads_layer_[static_cast<size_t>(reader)] = true;
  }
}

double Surrogate::TableLatency(const Candidate& candidate) const {
  std::fill(factor_.begin(), factor_.end(), 1.0);
  std::fill(quantized_.begin(), quantized_.end(), uint8_t{0});
  for (int number : candidate) {
    const CatalogueEntry& entry = catalogue_->entries[static_cast<size_t>(number)];
    if (entry.type == ActionType::kQuantize) quantized_[static_cast<size_t>(entry.layer)] = 1;
    for (const Shrink& shrink : entry.shrinks) factor_[static_cast<size_t>(shrink.layer)] *= shrink.factor;
  }
  double latency = tables_.exact_ms;
  for (size_t l = 0; l < factor_.size(); ++l) {
    const LayerTimes& times = tables_.layers[l];
    if (std::isnan(times.float_ms)) continue;  // not measured: any form counts the same
    const bool integer = quantized_[l] != 0 && !std::isnan(times.int8_ms);
    latency += (integer ? times.int8_ms : times.float_ms) * factor_[l] - times.float_ms;
    // Borders. What a layer produces is dequantized once if a float layer (or the end of the network) reads it, and
    // quantized once if it is float and an int8 layer reads it.
    const auto& readers = catalogue_->layers[l].readers;
    const bool float_reader = readers.empty() || std::any_of(readers.begin(), readers.end(), [&](int r) {
                                return quantized_[static_cast<size_t>(r)] == 0;
                              });
    if (quantized_[l] != 0 && float_reader) latency += OrZero(times.dequantize_ms) * factor_[l];
    if (quantized_[l] == 0) {
      const auto reader =
          std::find_if(readers.begin(), readers.end(), [&](int r) { return quantized_[static_cast<size_t>(r)] != 0; });
      if (reader != readers.end())
        latency += OrZero(tables_.layers[static_cast<size_t>(*reader)].quantize_ms) * factor_[l];
    } else if (!reads_layer_[l]) {
      latency += OrZero(times.quantize_ms);  // it reads the network's input
    }
  }
  return latency;
}

double Surrogate::TableDrop(const Candidate& candidate) const {
  double drop = 0;
  for (int entry : candidate) drop += std::max(tables_.entry_drop[static_cast<size_t>(entry)], 0.0);
  return drop;
}

Expected<Costs> Surrogate::Evaluate(const Candidate& candidate) {
  ++evaluations_;
  // No candidate is estimated below a hundredth of the baseline: a correction far from what it was fitted on must not
  // promise the impossible.
  const double latency =
      std::max(TableLatency(candidate) + SumOver(latency_correction_, candidate), tables_.baseline_ms / 100);
  Costs costs;
  costs.source = CostSource::kSurrogate;
  costs.latency_ms = Guess(latency, "ms");
  costs.ratio = Guess(latency / tables_.baseline_ms, "x");
  if (const auto drop = ExpectedDrop(candidate)) costs.drop = Guess(*drop, "points");
  return costs;
}

std::optional<double> Surrogate::ExpectedDrop(const Candidate& candidate) const {
  if (!tables_.drop_known) return std::nullopt;
  return std::max(TableDrop(candidate) + SumOver(drop_correction_, candidate), 0.0);
}

bool Surrogate::ExpectedDropsAfter(const Candidate& candidate, std::span<double> drops) const {
  RLC_CHECK_EQ(drops.size(), tables_.entry_drop.size());
  if (!tables_.drop_known) return false;
  // In the order of ExpectedDrop, so that both agree to the last bit.
  const double table = TableDrop(candidate), correction = SumOver(drop_correction_, candidate);
  for (size_t entry = 0; entry < drops.size(); ++entry) {
    const double alone = std::max(tables_.entry_drop[entry], 0.0);
    drops[entry] = std::max((table + alone) + (correction + drop_correction_[entry]), 0.0);
  }
  return true;
}

void Surrogate::Correct(std::span<const Measured> measured) {
  if (measured.empty()) return;
  std::vector<double> latency(measured.size()), drop(measured.size()), speed(measured.size());
  const std::vector<double> equal(measured.size(), 1.0);
  for (size_t i = 0; i < measured.size(); ++i) {
    latency[i] = measured[i].latency_ms - TableLatency(measured[i].candidate);
    drop[i] = measured[i].drop - TableDrop(measured[i].candidate);
    // Errors count by their share of the candidate's own latency: a search asks about the fast ones. On the trials of
    // two networks, five parts each predicted from the others, this halved the error near the best (9 to 5 %).
    speed[i] = tables_.baseline_ms / measured[i].latency_ms;
  }
  latency_correction_ = FitResiduals(measured, latency, speed, catalogue_->entries.size());
  drop_correction_ = FitResiduals(measured, drop, equal, catalogue_->entries.size());
}

Json Surrogate::ToJson() const {
  Json layers = Json::array();
  for (const LayerTimes& times : tables_.layers) {
    layers.push_back({{"float_ms", NumberOrNull(times.float_ms)},
                      {"int8_ms", NumberOrNull(times.int8_ms)},
                      {"quantize_ms", NumberOrNull(times.quantize_ms)},
                      {"dequantize_ms", NumberOrNull(times.dequantize_ms)}});
  }
  return {{"baseline_ms", tables_.baseline_ms}, {"exact_ms", tables_.exact_ms},
          {"layers", std::move(layers)},        {"entry_drop", tables_.entry_drop},
          {"drop_known", tables_.drop_known},   {"latency_correction", latency_correction_},
          {"drop_correction", drop_correction_}};
}

Expected<Surrogate> Surrogate::FromJson(const Catalogue& catalogue, const Json& json) {
  SurrogateTables tables;
  RLC_ASSIGN_OR_RETURN(tables.baseline_ms, GetDouble(json, "baseline_ms"));
  RLC_ASSIGN_OR_RETURN(tables.exact_ms, GetDouble(json, "exact_ms"));
  RLC_ASSIGN_OR_RETURN(tables.entry_drop, GetDoubles(json, "entry_drop"));
  RLC_ASSIGN_OR_RETURN(tables.drop_known, GetBool(json, "drop_known"));
  RLC_ASSIGN_OR_RETURN(const Json* layers, GetArray(json, "layers"));
  for (const Json& layer : *layers) {
    RLC_ASSIGN_OR_RETURN(const LayerTimes times, TimesFromJson(layer));
    tables.layers.push_back(times);
  }
  RLC_ASSIGN_OR_RETURN(const auto latency, GetDoubles(json, "latency_correction"));
  RLC_ASSIGN_OR_RETURN(const auto drop, GetDoubles(json, "drop_correction"));
  const size_t entries = catalogue.entries.size();
  if (tables.layers.size() != catalogue.layers.size() || tables.entry_drop.size() != entries ||
      latency.size() != entries || drop.size() != entries || !(tables.baseline_ms > 0) || !(tables.exact_ms > 0)) {
    return MakeError(
        ErrorKind::kInvalidInput,
        "surrogate: its tables do not fit a catalogue of {} layers and {} entries, or its latencies are not above 0; "
        "write both anew",
        catalogue.layers.size(), entries);
  }
  Surrogate surrogate(catalogue, std::move(tables));
  surrogate.latency_correction_ = latency;
  surrogate.drop_correction_ = drop;
  return surrogate;
}

}  // namespace rlc
