#include "rlc/measure/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <thread>

#include "rlc/base/file.h"

namespace rlc {
namespace {

using ::testing::HasSubstr;

Costs SomeCosts(double ms) {
  Costs costs;
  costs.latency_ms = {ms, ms - 0.1, ms + 0.1, 30, "ms"};
  costs.ratio = {ms / 4, ms / 4 - 0.01, ms / 4 + 0.01, 30, "x"};
  costs.drop = Estimate{0.004, 0.001, 0.008, 500, "points"};
  costs.file_bytes = 1234;
  return costs;
}

TrialKey Key(const std::string& plan = "plan") { return {"model", plan, 1, "machine", "1.32.0", "top1 abc"}; }

TrialStore OpenStore(const std::string& path) {
  auto store = TrialStore::Open(path);
  EXPECT_TRUE(store) << (store ? "" : store.error().message);
  return *std::move(store);
}

TEST(TrialStore, KeepsTrialsBetweenOpenings) {
  const auto folder = TempDir::Create();
  const std::string path = JoinPath(folder->path(), "trials.sqlite");
  Trial trial{Key(), "quantize layer0", SomeCosts(3), "", 1000.5, 2.5};
  trial.costs->peak_bytes = 77;
  {
    TrialStore store = OpenStore(path);
    ASSERT_TRUE(store.Add(trial));
  }
  const TrialStore store = OpenStore(path);
  const auto found = store.Find(Key());
  ASSERT_TRUE(found && *found) << (found ? "not found" : found.error().message);
  const Trial& back = **found;
  EXPECT_EQ(back.plan, "quantize layer0");
  EXPECT_EQ(back.costs->latency_ms, trial.costs->latency_ms);
  EXPECT_EQ(back.costs->ratio, trial.costs->ratio);
  EXPECT_EQ(back.costs->drop, trial.costs->drop);
  EXPECT_EQ(back.costs->energy_mj, std::nullopt);
  EXPECT_EQ(back.costs->peak_bytes, 77);
  EXPECT_EQ(back.costs->file_bytes, 1234);
  EXPECT_EQ(back.unix_seconds, 1000.5);
  EXPECT_EQ(back.seconds, 2.5);
}

TEST(TrialStore, FindsByTheWholeKeyAndTheNewest) {
  const auto folder = TempDir::Create();
  TrialStore store = OpenStore(JoinPath(folder->path(), "t"));
  ASSERT_TRUE(store.Add({Key(), "", SomeCosts(3), "", 1, 1}));
  ASSERT_TRUE(store.Add({Key(), "", SomeCosts(2), "", 2, 1}));
  EXPECT_EQ((*store.Find(Key()))->costs->latency_ms.value, 2);
  TrialKey other = Key();
  other.threads = 2;
  EXPECT_FALSE(store.Find(other)->has_value());
  other = Key();
  other.runtime = "1.21.0";
  EXPECT_FALSE(store.Find(other)->has_value());
  other = Key();
  other.data = "";
  EXPECT_FALSE(store.Find(other)->has_value());
  EXPECT_EQ(store.OfModel("model")->size(), 2u);
  EXPECT_EQ(store.OfModel("another")->size(), 0u);
}

TEST(TrialStore, KeepsFailuresWithTheirReason) {
  const auto folder = TempDir::Create();
  TrialStore store = OpenStore(JoinPath(folder->path(), "t"));
  ASSERT_TRUE(store.Add({Key(), "p", std::nullopt, "it 'crashed'; with \"quotes\"", 1, 1}));
  const auto found = store.Find(Key());
  ASSERT_TRUE(found && *found);
  EXPECT_FALSE((*found)->costs);
  EXPECT_EQ((*found)->failure, "it 'crashed'; with \"quotes\"");
}

TEST(TrialStore, KeepsTheNewestTimeOfEachLayer) {
  const auto folder = TempDir::Create();
  TrialStore store = OpenStore(JoinPath(folder->path(), "t"));
  const auto time = [](const std::string& form, double ms, int threads = 1) {
    return LayerTime{"conv 3x3", form, threads, "machine", "1.32.0", {ms, ms, ms, 9, "ms"}};
  };
  ASSERT_TRUE(store.AddLayerTime(time("float", 3)));
  ASSERT_TRUE(store.AddLayerTime(time("float", 2)));
  ASSERT_TRUE(store.AddLayerTime(time("int8", 1)));
  ASSERT_TRUE(store.AddLayerTime(time("int8", 9, 4)));
  const auto times = store.LayerTimes("machine", "1.32.0", 1);
  ASSERT_TRUE(times) << times.error().message;
  ASSERT_EQ(times->size(), 2u);
  EXPECT_EQ((*times)[0].form, "float");
  EXPECT_EQ((*times)[0].ms.value, 2);
  EXPECT_EQ((*times)[1].ms.value, 1);
  EXPECT_TRUE(store.LayerTimes("elsewhere", "1.32.0", 1)->empty());
}

TEST(TrialStore, SeveralWritersAtOnceLoseNothing) {
  const auto folder = TempDir::Create();
  const std::string path = JoinPath(folder->path(), "t");
  std::vector<std::thread> writers;
  std::vector<std::string> errors(4);
  for (int writer = 0; writer < 4; ++writer) {
    writers.emplace_back([&, writer] {
      auto store = TrialStore::Open(path);
      if (!store) {
        errors[writer] = store.error().message;
        return;
      }
      for (int i = 0; i < 25; ++i) {
        const auto added =
            store->Add({Key(std::to_string(writer) + "/" + std::to_string(i)), "", SomeCosts(1), "", 1, 1});
        if (!added) errors[writer] = added.error().message;
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  for (const std::string& error : errors) EXPECT_EQ(error, "");
  EXPECT_EQ(OpenStore(path).OfModel("model")->size(), 100u);
}

TEST(TrialStore, RefusesWhatIsNoTrialStore) {
  const auto folder = TempDir::Create();
  const std::string path = JoinPath(folder->path(), "t");
  ASSERT_TRUE(WriteFileAtomically(path, std::string(5000, 'x')));
  auto garbage = TrialStore::Open(path);
  ASSERT_FALSE(garbage);
  EXPECT_EQ(garbage.error().kind, ErrorKind::kInvalidInput);
  EXPECT_THAT(garbage.error().message, HasSubstr("is damaged"));

  const std::string other = JoinPath(folder->path(), "other");
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(other.c_str(), &database), SQLITE_OK);
  sqlite3_exec(database, "CREATE TABLE recipes (name TEXT)", nullptr, nullptr, nullptr);
  sqlite3_close(database);
  EXPECT_THAT(TrialStore::Open(other).error().message, HasSubstr("not a trial store"));

  EXPECT_EQ(TrialStore::Open(folder->path()).error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(TrialStore::Open("/nowhere/at/all/t").error().kind, ErrorKind::kUnavailable);
}

TEST(TrialStore, RefusesANewerFormat) {
  const auto folder = TempDir::Create();
  const std::string path = JoinPath(folder->path(), "t");
  {
    OpenStore(path);
  }
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  sqlite3_exec(database, "PRAGMA user_version = 99", nullptr, nullptr, nullptr);
  sqlite3_close(database);
  EXPECT_THAT(TrialStore::Open(path).error().message, HasSubstr("has format 99"));
}

// The middle of the file is overwritten: found when it is read, not a crash.
TEST(TrialStore, SaysWhenAPageIsDamaged) {
  const auto folder = TempDir::Create();
  const std::string path = JoinPath(folder->path(), "t");
  {
    TrialStore store = OpenStore(path);
    for (int i = 0; i < 200; ++i) ASSERT_TRUE(store.Add({Key(std::to_string(i)), "", SomeCosts(1), "", 1, 1}));
  }
  std::string bytes = ReadFile(path).value();
  ASSERT_GT(bytes.size(), 40'000u);
  for (size_t i = 5000; i < bytes.size() - 5000; ++i) bytes[i] = static_cast<char>(i * 7);
  ASSERT_TRUE(WriteFileAtomically(path, bytes));
  auto store = TrialStore::Open(path);
  const Error error = store ? store->OfModel("model").error() : store.error();
  EXPECT_EQ(error.kind, ErrorKind::kInvalidInput) << error.message;
}

}  // namespace
}  // namespace rlc
