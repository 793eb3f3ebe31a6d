#include "rlc/measure/store.h"

#include <sqlite3.h>

#include <utility>

#include "rlc/base/file.h"
#include "rlc/base/json.h"
#include "rlc/measure/timing.h"

namespace rlc {
namespace {

constexpr int kSchema = 1;
constexpr int kApplicationId = 0x726c6374;  // "rlct": tells a trial store from anybody else's database
constexpr int kBusyMilliseconds = 20'000;   // another process is writing

constexpr char kCreate[] = R"(
  CREATE TABLE trials (
    id INTEGER PRIMARY KEY,
    model_hash TEXT NOT NULL, plan_hash TEXT NOT NULL, threads INTEGER NOT NULL, machine TEXT NOT NULL,
    runtime TEXT NOT NULL, data TEXT NOT NULL,
    plan TEXT NOT NULL, costs TEXT, failure TEXT NOT NULL, unix_seconds REAL NOT NULL, seconds REAL NOT NULL);
  CREATE INDEX trials_by_key ON trials (model_hash, plan_hash, threads, machine, runtime, data, id);
  CREATE TABLE layer_times (
    id INTEGER PRIMARY KEY,
    signature TEXT NOT NULL, form TEXT NOT NULL, threads INTEGER NOT NULL, machine TEXT NOT NULL,
    runtime TEXT NOT NULL, ms TEXT NOT NULL);
  CREATE INDEX layer_times_by_machine ON layer_times (machine, runtime, threads, id);
)";

Json CostsToText(const Costs& costs) {
  Json json = {{"source", costs.source == CostSource::kMeasured ? "measured" : "surrogate"},
               {"latency_ms", EstimateToJson(costs.latency_ms)},
               {"ratio", EstimateToJson(costs.ratio)},
               {"file_bytes", costs.file_bytes}};
  if (costs.drop) json["drop"] = EstimateToJson(*costs.drop);
  if (costs.energy_mj) json["energy_mj"] = EstimateToJson(*costs.energy_mj);
  if (costs.peak_bytes) json["peak_bytes"] = *costs.peak_bytes;
  return json;
}

Expected<Estimate> GetEstimate(const Json& json, std::string_view key) {
  RLC_ASSIGN_OR_RETURN(const Json* field, GetObject(json, key));
  return EstimateFromJson(*field);
}

Expected<Costs> CostsFromText(std::string_view text) {
  RLC_ASSIGN_OR_RETURN(const Json json, ParseJson(text, "costs"));
  Costs costs;
  RLC_ASSIGN_OR_RETURN(const std::string source, GetString(json, "source"));
  costs.source = source == "surrogate" ? CostSource::kSurrogate : CostSource::kMeasured;
  RLC_ASSIGN_OR_RETURN(costs.latency_ms, GetEstimate(json, "latency_ms"));
  RLC_ASSIGN_OR_RETURN(costs.ratio, GetEstimate(json, "ratio"));
  RLC_ASSIGN_OR_RETURN(costs.file_bytes, GetInt(json, "file_bytes"));
  if (json.contains("drop")) {
    RLC_ASSIGN_OR_RETURN(costs.drop, GetEstimate(json, "drop"));
  }
  if (json.contains("energy_mj")) {
    RLC_ASSIGN_OR_RETURN(costs.energy_mj, GetEstimate(json, "energy_mj"));
  }
  if (json.contains("peak_bytes")) {
    RLC_ASSIGN_OR_RETURN(costs.peak_bytes, GetInt(json, "peak_bytes"));
  }
  return costs;
}

}  // namespace

struct TrialStore::Impl {
  sqlite3* database = nullptr;
  std::string path;

  ~Impl() { sqlite3_close_v2(database); }

  Unexpected Failure(int code) const {
    const std::string reason = database != nullptr ? sqlite3_errmsg(database) : sqlite3_errstr(code);
    switch (code & 0xff) {
      case SQLITE_NOTADB:
      case SQLITE_CORRUPT:
        return MakeError(
            ErrorKind::kInvalidInput,
            "{}: the trial store is damaged ({}); move it away and measure anew, or name another with --store", path,
            reason);
      default:
        return MakeError(ErrorKind::kUnavailable, "{}: the trial store cannot be used: {}", path, reason);
    }
  }

  Expected<void> Execute(const char* sql) const {
    const int code = sqlite3_exec(database, sql, nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) return Failure(code);
    return {};
  }

  Expected<int> Pragma(const char* sql) const;
  Expected<void> Prepare() const;
};

namespace {

// One prepared statement: bind in order, then step and read columns in order.
class Statement {
 public:
  Statement(sqlite3* database, const char* sql) { code_ = sqlite3_prepare_v2(database, sql, -1, &statement_, nullptr); }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& Bind(std::string_view text) {
    return Note(sqlite3_bind_text64(statement_, ++bound_, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
  }
  Statement& Bind(int64_t value) { return Note(sqlite3_bind_int64(statement_, ++bound_, value)); }
  Statement& Bind(int value) { return Bind(int64_t{value}); }
  Statement& Bind(double value) { return Note(sqlite3_bind_double(statement_, ++bound_, value)); }
  Statement& BindNull() { return Note(sqlite3_bind_null(statement_, ++bound_)); }
  Statement& Bind(const TrialKey& key) {
    return Bind(key.model_hash)
        .Bind(key.plan_hash)
        .Bind(key.threads)
        .Bind(key.machine)
        .Bind(key.runtime)
        .Bind(key.data);
  }

  // True: a row is there. False: no more rows, or an error (code()).
  bool Step() {
    if (code_ != SQLITE_OK && code_ != SQLITE_ROW) return false;
    code_ = sqlite3_step(statement_);
    column_ = 0;
    return code_ == SQLITE_ROW;
  }
  bool failed() const { return code_ != SQLITE_OK && code_ != SQLITE_ROW && code_ != SQLITE_DONE; }
  int code() const { return code_; }

  bool NextIsNull() const { return sqlite3_column_type(statement_, column_) == SQLITE_NULL; }
  std::string Text() {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column_));
    const int bytes = sqlite3_column_bytes(statement_, column_++);
    return text == nullptr ? std::string() : std::string(text, static_cast<size_t>(bytes));
  }
  int Int() { return sqlite3_column_int(statement_, column_++); }
  double Real() { return sqlite3_column_double(statement_, column_++); }

 private:
  Statement& Note(int code) {
    if (code_ == SQLITE_OK) code_ = code;
    return *this;
  }
  sqlite3_stmt* statement_ = nullptr;
  int code_ = SQLITE_OK;
  int bound_ = 0;
  int column_ = 0;
};

Expected<Trial> ReadTrial(Statement& row) {
  Trial trial;
  trial.key.model_hash = row.Text();
  trial.key.plan_hash = row.Text();
  trial.key.threads = row.Int();
  trial.key.machine = row.Text();
  trial.key.runtime = row.Text();
  trial.key.data = row.Text();
  trial.plan = row.Text();
  const bool has_costs = !row.NextIsNull();
  const std::string costs = row.Text();
  if (has_costs) {
    RLC_ASSIGN_OR_RETURN(trial.costs, CostsFromText(costs));
  }
  trial.failure = row.Text();
  trial.unix_seconds = row.Real();
  trial.seconds = row.Real();
  return trial;
}

#define RLC_TRIAL_COLUMNS \
  "model_hash, plan_hash, threads, machine, runtime, data, plan, costs, failure, unix_seconds, seconds"

}  // namespace

Expected<int> TrialStore::Impl::Pragma(const char* sql) const {
  Statement statement(database, sql);
  const bool row = statement.Step();
  if (statement.failed()) return Failure(statement.code());
  return row ? statement.Int() : 0;
}

// Checks what is there, or makes the tables. Two processes may get here at once: the transaction lets one do it.
Expected<void> TrialStore::Impl::Prepare() const {
  sqlite3_busy_timeout(database, kBusyMilliseconds);
  RLC_RETURN_IF_ERROR(Execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"));
  RLC_RETURN_IF_ERROR(Execute("BEGIN IMMEDIATE"));
  const auto prepare = [&]() -> Expected<void> {
    RLC_ASSIGN_OR_RETURN(const int tables, Pragma("SELECT count(*) FROM sqlite_master"));
    RLC_ASSIGN_OR_RETURN(const int application, Pragma("PRAGMA application_id"));
    RLC_ASSIGN_OR_RETURN(const int schema, Pragma("PRAGMA user_version"));
    if (tables > 0 && application != kApplicationId) {
      return MakeError(ErrorKind::kInvalidInput,
                       "{}: a database, but not a trial store; name another file with --store", path);
    }
    if (tables > 0 && schema != kSchema) {
      return MakeError(
          ErrorKind::kInvalidInput,
          "{}: the trial store has format {}, this rlc reads {}; move it away, or name another with --store", path,
          schema, kSchema);
    }
    if (tables > 0) return {};
    RLC_RETURN_IF_ERROR(Execute(kCreate));
    const std::string stamp = "PRAGMA application_id = " + std::to_string(kApplicationId) +
                              "; PRAGMA user_version = " + std::to_string(kSchema);
    return Execute(stamp.c_str());
  };
  if (auto prepared = prepare(); !prepared) {
    sqlite3_exec(database, "ROLLBACK", nullptr, nullptr, nullptr);
    return prepared;
  }
  return Execute("COMMIT");
}

TrialStore::TrialStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TrialStore::TrialStore(TrialStore&&) noexcept = default;
TrialStore& TrialStore::operator=(TrialStore&&) noexcept = default;
TrialStore::~TrialStore() = default;

const std::string& TrialStore::path() const { return impl_->path; }

Expected<std::string> TrialStore::DefaultPath() {
  RLC_ASSIGN_OR_RETURN(const std::string folder, UserCacheFolder());
  return JoinPath(folder, "trials.sqlite");
}

Expected<TrialStore> TrialStore::Open(const std::string& path) {
  if (IsFolder(path)) return MakeError(ErrorKind::kUnavailable, "{}: a folder; the trial store is a file", path);
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX;
  if (const int code = sqlite3_open_v2(path.c_str(), &impl->database, flags, nullptr); code != SQLITE_OK) {
    return impl->Failure(code);
  }
  RLC_RETURN_IF_ERROR(impl->Prepare());
  return TrialStore(std::move(impl));
}

Expected<void> TrialStore::Add(const Trial& trial) {
  Statement statement(impl_->database, "INSERT INTO trials (" RLC_TRIAL_COLUMNS ") VALUES (?,?,?,?,?,?,?,?,?,?,?)");
  statement.Bind(trial.key).Bind(trial.plan);
  if (trial.costs) {
    statement.Bind(DumpJson(CostsToText(*trial.costs), -1));
  } else {
    statement.BindNull();
  }
  statement.Bind(trial.failure).Bind(trial.unix_seconds).Bind(trial.seconds).Step();
  if (statement.failed()) return impl_->Failure(statement.code());
  return {};
}

Expected<std::optional<Trial>> TrialStore::Find(const TrialKey& key) const {
  Statement statement(impl_->database, "SELECT " RLC_TRIAL_COLUMNS
                                       " FROM trials WHERE model_hash=? AND plan_hash=? AND "
                                       "threads=? AND machine=? AND runtime=? AND data=? ORDER BY id DESC LIMIT 1");
  const bool found = statement.Bind(key).Step();
  if (statement.failed()) return impl_->Failure(statement.code());
  if (!found) return std::optional<Trial>();
  auto trial = ReadTrial(statement);
  if (!trial) return WithContext(trial.error(), impl_->path);
  return std::optional<Trial>(*std::move(trial));
}

Expected<std::vector<Trial>> TrialStore::OfModel(const std::string& model_hash) const {
  Statement statement(impl_->database, "SELECT " RLC_TRIAL_COLUMNS " FROM trials WHERE model_hash=? ORDER BY id");
  statement.Bind(model_hash);
  std::vector<Trial> trials;
  while (statement.Step()) {
    auto trial = ReadTrial(statement);
    if (!trial) return WithContext(trial.error(), impl_->path);
    trials.push_back(*std::move(trial));
  }
  if (statement.failed()) return impl_->Failure(statement.code());
  return trials;
}

Expected<void> TrialStore::AddLayerTime(const LayerTime& time) {
  Statement statement(impl_->database,
                      "INSERT INTO layer_times (signature, form, threads, machine, runtime, ms) VALUES (?,?,?,?,?,?)");
  statement.Bind(time.signature).Bind(time.form).Bind(time.threads).Bind(time.machine).Bind(time.runtime);
  statement.Bind(DumpJson(EstimateToJson(time.ms), -1)).Step();
  if (statement.failed()) return impl_->Failure(statement.code());
  return {};
}

Expected<std::vector<LayerTime>> TrialStore::LayerTimes(const std::string& machine, const std::string& runtime,
                                                        int threads) const {
  Statement statement(impl_->database,
                      "SELECT signature, form, ms FROM layer_times WHERE id IN (SELECT max(id) FROM layer_times WHERE "
                      "machine=? AND runtime=? AND threads=? GROUP BY signature, form) ORDER BY signature, form");
  statement.Bind(machine).Bind(runtime).Bind(threads);
  std::vector<LayerTime> times;
  while (statement.Step()) {
    LayerTime time;
    time.threads = threads;
    time.machine = machine;
    time.runtime = runtime;
    time.signature = statement.Text();
    time.form = statement.Text();
    auto json = ParseJson(statement.Text(), impl_->path);
    if (!json) return Unexpected(json.error());
    auto ms = EstimateFromJson(*json);
    if (!ms) return WithContext(ms.error(), impl_->path);
    time.ms = *std::move(ms);
    times.push_back(std::move(time));
  }
  if (statement.failed()) return impl_->Failure(statement.code());
  return times;
}

}  // namespace rlc
