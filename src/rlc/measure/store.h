// The trial store: every measurement that was ever made, in an SQLite file that several processes may use at once.
#ifndef RLC_MEASURE_STORE_H_
#define RLC_MEASURE_STORE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/cost/cost.h"

namespace rlc {

// What makes two measurements comparable.
struct TrialKey {
  std::string model_hash;
  std::string plan_hash;  // ContentHash of the file that the plan gives
  int threads = 1;
  std::string machine;  // Machine::Fingerprint()
  std::string runtime;  // "1.32.0"
  std::string data;     // rows and metric that the accuracy drop is of; "" without data
};

struct Trial {
  TrialKey key;
  std::string plan;            // names of its actions, for reading
  std::optional<Costs> costs;  // nothing: it failed
  std::string failure;         // why
  double unix_seconds = 0;     // when
  double seconds = 0;          // how long measuring took
};

struct LayerTime {
  std::string signature;  // LayerSignature(), or what a neighbour cost is of: "quantize 200704"
  std::string form;       // "float", "int8", ...
  int threads = 1;
  std::string machine, runtime;
  Estimate ms;
};

class TrialStore {
 public:
  // Opens or creates. Error: the folder cannot be written (kUnavailable), the file is not a trial store, is corrupted,
  // or was written by a newer rlc (kInvalidInput; the sentence says to move it away).
  static Expected<TrialStore> Open(const std::string& path);
  static Expected<std::string> DefaultPath();  // trials.sqlite in the user's cache folder
  TrialStore(TrialStore&&) noexcept;
  TrialStore& operator=(TrialStore&&) noexcept;
  ~TrialStore();

  // Adds a row; older rows with the same key stay.
  Expected<void> Add(const Trial& trial);
  Expected<std::optional<Trial>> Find(const TrialKey& key) const;             // the newest
  Expected<std::vector<Trial>> OfModel(const std::string& model_hash) const;  // oldest first

  Expected<void> AddLayerTime(const LayerTime& time);
  Expected<std::vector<LayerTime>> LayerTimes(const std::string& machine, const std::string& runtime,
                                              int threads) const;  // the newest of each signature and form

  const std::string& path() const;

 private:
  struct Impl;
  explicit TrialStore(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace rlc

#endif  // RLC_MEASURE_STORE_H_
