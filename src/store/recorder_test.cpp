// SPDX-License-Identifier: Apache-2.0
#include "count_allocations.h"
#include "sqlite/schema.h"
#include "sqlite/sqlite_store.h"
#include "test_support.h"

#include <condition_variable>
#include <mutex>

#include <assay/store/recorder.h>
#include <gtest/gtest.h>

namespace assay::store {
namespace {

/// Counts what it is given, and gives it to another store if there is one; a test can hold it up or
/// let it fail.
class FakeStore final : public Store {
 public:
  explicit FakeStore(Store* behind = nullptr) : behind_(behind) {}

  Result<void> append(const std::string& session, int run,
                      const std::vector<Series>& samples) override {
    std::unique_lock lock(mutex_);
    ++calls_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !held_; });
    if (full_) return refused("the disk is full");
    if (locked_) return fail(Error{ErrorKind::environment, "it is locked", true});
    if (behind_ != nullptr) ASSAY_CHECK(behind_->append(session, run, samples));
    for (const auto& series : samples) samples_ += series.times.size();
    changed_.notify_all();
    return {};
  }
  void hold(bool held) {
    const std::lock_guard lock(mutex_);
    held_ = held;
    changed_.notify_all();
  }
  void lock(bool locked) {
    const std::lock_guard lock(mutex_);
    locked_ = locked;
  }
  void fill_up() {
    const std::lock_guard lock(mutex_);
    full_ = true;
  }
  /// False when that takes absurdly long.
  bool wait_for_samples(size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(30), [&] { return samples_ >= count; });
  }
  bool wait_for_calls(size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(30), [&] { return calls_ >= count; });
  }
  size_t samples() {
    const std::lock_guard lock(mutex_);
    return samples_;
  }

  Result<void> add_session(const SessionRecord&) override { return {}; }
  Result<void> put_run(const std::string&, const RunRecord&) override { return {}; }
  Result<void> compact(const std::string&, int) override { return {}; }
  Result<std::vector<Summary>> list() override { return std::vector<Summary>(); }
  Result<Summary> summary(const std::string&) override { return fail({}); }
  Result<SessionRecord> session(const std::string&) override { return SessionRecord(); }
  Result<std::unique_ptr<SeriesReader>> samples(const std::string&, int) override {
    return refused("");
  }
  Result<void> remove(const std::string&) override { return {}; }
  Result<void> export_session(const std::string&, const std::filesystem::path&) override {
    return {};
  }
  Result<std::string> import_session(const std::filesystem::path&) override { return refused(""); }
  Result<std::vector<std::string>> cut_off() override { return std::vector<std::string>(); }
  Result<void> mark_interrupted(const std::vector<std::string>&) override { return {}; }
  Result<Size> size(const std::string&) override { return Size(); }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t calls_ = 0;
  size_t samples_ = 0;
  bool held_ = false;
  bool full_ = false;
  bool locked_ = false;
  Store* behind_;
};

void push(Recorder& recorder, SeriesId id, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    recorder.sample(id, from_unix_ns(static_cast<int64_t>(i) * 1000), static_cast<double>(i));
  }
}

TEST(Recorder, writes_to_a_real_history_in_order) {
  const TempFolder folder;
  const auto store = must_open(folder / "h.db");
  SessionRecord session = example_session("s");
  session.runs = {example_run(1, RunStatus::running)};
  ASSERT_TRUE(store->add_session(session));
  const auto recorder = make_recorder(*store, "s", 1);
  const Series wanted = example_series("a", 0, 1000);
  const Series other = example_series("b", 0, 10);
  const SeriesId a = recorder->declare(wanted.info);
  const SeriesId b = recorder->declare(other.info);
  for (size_t i = 0; i < wanted.times.size(); ++i) {
    recorder->sample(a, wanted.times[i] + Nanoseconds(999), wanted.values[i]);
    if (i < other.times.size()) recorder->sample(b, other.times[i], other.values[i]);
  }
  const auto losses = recorder->finish();
  ASSERT_TRUE(losses) << losses.error().message;
  EXPECT_TRUE(losses->empty());
  expect_samples(stored(*store, "s", 1, "a"), wanted);
  expect_samples(stored(*store, "s", 1, "b"), other);
}

TEST(Recorder, the_same_series_keeps_its_id) {
  FakeStore store;
  const auto recorder = make_recorder(store, "s", 1);
  const SeriesId a = recorder->declare(example_series("a", 0, 0).info);
  const SeriesId b = recorder->declare(example_series("b", 0, 0).info);
  EXPECT_NE(a, b);
  EXPECT_EQ(recorder->declare(example_series("a", 0, 0).info), a);
}

TEST(Recorder, writes_by_itself_without_being_asked) {
  FakeStore store;
  const auto recorder = make_recorder(store, "s", 1);
  push(*recorder, recorder->declare(example_series("a", 0, 0).info), 5);
  EXPECT_TRUE(store.wait_for_samples(5));
  push(*recorder, recorder->declare(example_series("late", 0, 0).info), 5);
  EXPECT_TRUE(store.wait_for_samples(10));
}

TEST(Recorder, sampling_allocates_nothing) {
  FakeStore store;
  const auto recorder = make_recorder(store, "s", 1);
  std::vector<SeriesId> ids;
  ids.reserve(20);
  for (int i = 0; i < 20; ++i)
    ids.push_back(recorder->declare(example_series(std::to_string(i), 0, 0).info));
  size_t during = 0;
  for (size_t round = 1; round <= 3; ++round) {
    const size_t before = allocations_here();
    for (const auto id : ids) push(*recorder, id, 30);
    during += allocations_here() - before;
    ASSERT_TRUE(store.wait_for_samples(round * 20 * 30));
  }
  EXPECT_EQ(during, 0U);
}

TEST(Recorder, a_slow_disk_costs_samples_but_never_holds_up_the_caller) {
  FakeStore store;
  store.hold(true);
  const auto recorder = make_recorder(store, "s", 1);
  const SeriesId id = recorder->declare(example_series("a", 0, 0).info);
  push(*recorder, id, 10);
  ASSERT_TRUE(store.wait_for_calls(1));  // from now on the disk does not answer
  const size_t pushed = 1'200'000;
  push(*recorder, id, pushed);
  store.hold(false);
  const auto losses = recorder->finish();
  ASSERT_TRUE(losses);
  ASSERT_EQ(losses->size(), 1U);
  expect_in((*losses)[0].reason, "too slow");
  EXPECT_GT((*losses)[0].count, 0U);
  EXPECT_EQ((*losses)[0].count + store.samples(), pushed + 10);
}

TEST(Recorder, a_full_disk_is_kept_as_the_error_with_what_it_cost) {
  FakeStore store;
  store.fill_up();
  const auto recorder = make_recorder(store, "s", 1);
  const SeriesId id = recorder->declare(example_series("a", 0, 0).info);
  EXPECT_FALSE(recorder->error());
  push(*recorder, id, 10);
  ASSERT_TRUE(store.wait_for_calls(1));
  push(*recorder, id, 7);
  const auto losses = recorder->finish();
  ASSERT_FALSE(losses);
  expect_in(losses.error().message, "the disk is full; 17 samples");
  EXPECT_EQ(recorder->error()->message, "the disk is full");
}

TEST(Recorder, what_a_locked_history_refuses_is_written_later_in_order) {
  const TempFolder folder;
  auto store = SqliteStore::open(folder / "h.db", schema_steps(), Milliseconds(1));
  ASSERT_TRUE(store) << store.error().message;
  SessionRecord session = example_session("s");
  session.runs = {example_run(1, RunStatus::running)};
  ASSERT_TRUE((*store)->add_session(session));
  FakeStore watched(store->get());
  const auto recorder = make_recorder(watched, "s", 1);
  const Series wanted = example_series("a", 0, 300);
  const SeriesId id = recorder->declare(wanted.info);

  auto other = Database::open(folder / "h.db");
  ASSERT_TRUE(other);
  auto holding = Transaction::write(*other);
  ASSERT_TRUE(holding);
  for (size_t attempt = 0; attempt < 3; ++attempt) {
    for (size_t i = attempt * 100; i < attempt * 100 + 100; ++i)
      recorder->sample(id, wanted.times[i], wanted.values[i]);
    ASSERT_TRUE(watched.wait_for_calls(attempt + 1));
  }
  EXPECT_FALSE(recorder->error()) << "nobody has to end the app for that";
  EXPECT_EQ(watched.samples(), 0U);
  ASSERT_TRUE(holding->commit());
  const auto losses = recorder->finish();
  ASSERT_TRUE(losses) << losses.error().message;
  EXPECT_TRUE(losses->empty());
  expect_samples(stored(**store, "s", 1, "a"), wanted);
}

TEST(Recorder, a_history_that_stays_locked_costs_the_oldest_samples) {
  FakeStore store;
  store.lock(true);
  const auto recorder = make_recorder(store, "s", 1);
  const SeriesId id = recorder->declare(example_series("a", 0, 0).info);
  store.hold(true);
  push(*recorder, id, 10);
  ASSERT_TRUE(store.wait_for_calls(1));
  const size_t later = 1U << 20U;  // as many as may wait
  push(*recorder, id, later);
  store.hold(false);
  ASSERT_TRUE(store.wait_for_calls(2));
  store.lock(false);
  const auto losses = recorder->finish();
  ASSERT_TRUE(losses) << losses.error().message;
  EXPECT_EQ(*losses, (std::vector<Loss>{{"store", "another program kept the history locked", 10}}));
  EXPECT_EQ(store.samples(), later);
}

TEST(Recorder, a_history_that_is_locked_at_the_end_is_the_error_with_what_it_cost) {
  FakeStore store;
  store.lock(true);
  const auto recorder = make_recorder(store, "s", 1);
  push(*recorder, recorder->declare(example_series("a", 0, 0).info), 10);
  const auto losses = recorder->finish();
  ASSERT_FALSE(losses);
  expect_in(losses.error().message, "it is locked; 10 samples were not kept");
}

TEST(Recorder, losses_of_others_add_up) {
  FakeStore store;
  const auto recorder = make_recorder(store, "s", 1);
  recorder->lost({"hooks", "not JSON", 2});
  recorder->lost({"hooks", "not JSON", 3});
  recorder->sample(SeriesId(5), from_unix_ns(0), 1);
  const auto losses = recorder->finish();
  ASSERT_TRUE(losses);
  ASSERT_EQ(losses->size(), 2U);
  EXPECT_EQ((*losses)[0], (Loss{"hooks", "not JSON", 5}));
  expect_in((*losses)[1].reason, "never declared");
}

TEST(Recorder, its_end_writes_what_is_left) {
  FakeStore store;
  {
    const auto recorder = make_recorder(store, "s", 1);
    push(*recorder, recorder->declare(example_series("a", 0, 0).info), 5);
  }
  EXPECT_EQ(store.samples(), 5U);
}

}  // namespace
}  // namespace assay::store
