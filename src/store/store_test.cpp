// SPDX-License-Identifier: Apache-2.0
#include "simulated_run.h"
#include "sqlite/database.h"
#include "test_support.h"

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>

#include <assay/store/store.h>
#include <gtest/gtest.h>

namespace assay::store {
namespace {

class StoreTest : public testing::Test {
 protected:
  TempFolder folder_;
  std::unique_ptr<Store> store_ = must_open(folder_ / "deep/er/history.db");

  void add(const std::string& id, std::vector<RunStatus> statuses, int64_t created = 1'000) {
    SessionRecord session = example_session(id, created);
    for (size_t i = 0; i < statuses.size(); ++i) {
      session.runs.push_back(example_run(static_cast<int>(i) + 1, statuses[i]));
    }
    ASSERT_TRUE(store_->add_session(session));
  }
};

TEST_F(StoreTest, gives_back_a_session_with_its_runs) {
  SessionRecord session = example_session("20260131-120000-7f3a");
  ASSERT_TRUE(store_->add_session(session));
  session.runs = {example_run(1, RunStatus::finished), example_run(2, RunStatus::oom)};
  for (const auto& run : session.runs) ASSERT_TRUE(store_->put_run(session.id, run));
  const auto back = store_->session(session.id);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(to_json(*back), to_json(session));
}

TEST_F(StoreTest, is_for_its_user_alone) {
  add("s", {RunStatus::finished});
  using std::filesystem::perms;
  const auto mode = [&](const char* name) {
    return std::filesystem::status(folder_ / name).permissions();
  };
  const perms file_mode = perms::owner_read | perms::owner_write;
  EXPECT_EQ(mode("deep/er"), perms::owner_all);
  EXPECT_EQ(mode("deep/er/history.db"), file_mode);
  EXPECT_EQ(mode("deep/er/history.db-wal"), file_mode);
  EXPECT_EQ(mode("deep/er/history.db-shm"), file_mode);
  const perms shared = file_mode | perms::group_read;
  std::filesystem::permissions(folder_ / "deep/er/history.db", shared);
  must_open(folder_ / "deep/er/history.db");
  EXPECT_EQ(mode("deep/er/history.db"), shared) << "what somebody chose stays";
}

TEST_F(StoreTest, putting_a_run_again_replaces_it) {
  add("s", {RunStatus::running});
  RunRecord run = example_run(1, RunStatus::failed);
  run.exit.code = 7;
  ASSERT_TRUE(store_->put_run("s", run));
  const auto back = store_->session("s");
  ASSERT_EQ(back->runs.size(), 1U);
  EXPECT_EQ(back->runs[0].exit.code, 7);
}

TEST_F(StoreTest, text_that_is_not_utf8_does_no_harm) {
  SessionRecord session = example_session("s");
  session.user = "J\xf6rg";
  EXPECT_TRUE(store_->add_session(session));
  EXPECT_TRUE(store_->session("s"));
}

TEST_F(StoreTest, the_same_session_cannot_be_added_twice) {
  add("s", {});
  const auto again = store_->add_session(example_session("s"));
  ASSERT_FALSE(again);
  expect_in(again.error().message, "already");
}

TEST_F(StoreTest, a_run_of_an_unknown_session_is_refused) {
  EXPECT_FALSE(store_->put_run("nobody", example_run(1, RunStatus::finished)));
  const auto appended = store_->append("nobody", 1, {example_series("x", 0, 1)});
  ASSERT_FALSE(appended);
  expect_in(appended.error().message, "no run 1");
}

TEST_F(StoreTest, the_list_has_the_newest_first_and_the_worst_status) {
  add("a", {RunStatus::finished, RunStatus::failed, RunStatus::timeout}, 10);
  add("b", {RunStatus::finished, RunStatus::running}, 30);
  add("c", {}, 20);
  add("d", {RunStatus::oom, RunStatus::interrupted}, 5);
  const auto list = store_->list();
  ASSERT_TRUE(list) << list.error().message;
  std::vector<std::string> lines;
  for (const auto& s : *list) lines.push_back(s.id + " " + std::to_string(s.runs) + " " + s.status);
  EXPECT_EQ(lines, (std::vector<std::string>{"b 2 running", "c 0 no runs", "a 3 failed",
                                             "d 2 interrupted"}));
  EXPECT_EQ((*list)[0].app, "waggle/objcounter:1.2");
  EXPECT_EQ((*list)[0].hostname, "pole-7");
  EXPECT_EQ(unix_ns((*list)[0].created), 30);
}

TEST_F(StoreTest, a_session_is_found_by_prefix_or_as_the_last) {
  add("20260131-aa", {}, 10);
  add("20260131-ab", {}, 20);
  add("20260201-ba", {}, 15);
  EXPECT_EQ(store_->session("202602")->id, "20260201-ba");
  EXPECT_EQ(store_->session("last")->id, "20260131-ab");
  const auto ambiguous = store_->session("20260131");
  ASSERT_FALSE(ambiguous);
  EXPECT_EQ(ambiguous.error().kind, ErrorKind::input);
  expect_in(ambiguous.error().message, "20260131-aa, 20260131-ab");
  const auto none = store_->session("x%");
  ASSERT_FALSE(none);
  expect_in(none.error().message, "assay history list");
}

TEST_F(StoreTest, a_whole_id_wins_over_longer_ones) {
  add("a", {}, 10);
  add("ab", {}, 20);
  EXPECT_EQ(store_->session("a")->id, "a");
}

TEST_F(StoreTest, an_empty_history_has_no_last_session) {
  const auto last = store_->session("last");
  ASSERT_FALSE(last);
  expect_in(last.error().message, "assay run");
}

TEST_F(StoreTest, samples_come_back_from_the_tail_and_after_compaction) {
  add("s", {RunStatus::running});
  for (size_t i = 0; i < 10; ++i) {
    ASSERT_TRUE(store_->append("s", 1,
                               {example_series("a", i * 5, 5), example_series("empty", 0, 0),
                                example_series("b", i * 2, 2)}));
  }
  const auto check = [&] {
    expect_samples(stored(*store_, "s", 1, "a"), example_series("a", 0, 50));
    expect_samples(stored(*store_, "s", 1, "b"), example_series("b", 0, 20));
    EXPECT_EQ((*store_->samples("s", 1))->list().size(), 2U);
    EXPECT_EQ(store_->size("s")->samples, 70U);
  };
  check();
  const auto before = store_->size("s")->bytes;
  ASSERT_TRUE(store_->compact("s", 1));
  check();
  EXPECT_LT(store_->size("s")->bytes, before / 4);
  ASSERT_TRUE(store_->append("s", 1, {example_series("a", 50, 5)}));
  ASSERT_TRUE(store_->compact("s", 1));
  expect_samples(stored(*store_, "s", 1, "a"), example_series("a", 0, 55));
}

TEST_F(StoreTest, samples_of_several_runs_do_not_mix) {
  add("s", {RunStatus::finished, RunStatus::finished});
  ASSERT_TRUE(store_->append("s", 1, {example_series("a", 0, 5)}));
  ASSERT_TRUE(store_->append("s", 2, {example_series("b", 0, 3)}));
  ASSERT_TRUE(store_->append("s", 1, {example_series("b", 7, 1)}));
  ASSERT_TRUE(store_->compact("s", 1));
  expect_samples(stored(*store_, "s", 1, "b"), example_series("b", 7, 1));
  expect_samples(stored(*store_, "s", 2, "b"), example_series("b", 0, 3));
  EXPECT_FALSE(store_->samples("s", 3));
}

TEST_F(StoreTest, samples_that_came_out_of_order_are_read_in_order) {
  add("s", {RunStatus::finished});
  ASSERT_TRUE(store_->append("s", 1, {example_series("a", 5, 5)}));
  ASSERT_TRUE(store_->append("s", 1, {example_series("a", 0, 5)}));
  expect_samples(stored(*store_, "s", 1, "a"), example_series("a", 0, 10));
}

TEST_F(StoreTest, more_samples_than_a_block_holds_are_kept) {
  add("s", {RunStatus::finished});
  const Series many = example_series("a", 0, kMaxBlockSamples + 10);
  ASSERT_TRUE(store_->append("s", 1, {many, example_series("b", 0, 3)}));
  ASSERT_TRUE(store_->compact("s", 1));
  expect_samples(stored(*store_, "s", 1, "a"), many);
  expect_samples(stored(*store_, "s", 1, "b"), example_series("b", 0, 3));
}

TEST_F(StoreTest, removing_a_session_takes_everything_of_it_and_nothing_else) {
  add("a", {RunStatus::finished});
  add("b", {RunStatus::finished});
  ASSERT_TRUE(store_->append("a", 1, {example_series("x", 0, 5)}));
  ASSERT_TRUE(store_->append("b", 1, {example_series("x", 0, 4)}));
  ASSERT_TRUE(store_->compact("a", 1));
  ASSERT_TRUE(store_->append("a", 1, {example_series("x", 5, 5)}));
  ASSERT_TRUE(store_->remove("a"));
  EXPECT_FALSE(store_->session("a"));
  EXPECT_EQ(store_->size("b")->samples, 4U);
  EXPECT_FALSE(store_->remove("a"));
  auto db = Database::open(folder_ / "deep/er/history.db");
  for (const char* table : {"runs", "series", "tail"}) {
    EXPECT_EQ(*db->number(std::string("SELECT count(*) FROM ") + table), 1) << table;
  }
  EXPECT_EQ(*db->number("SELECT count(*) FROM blocks"), 0);
}

TEST_F(StoreTest, appending_to_a_removed_session_says_so) {
  add("a", {RunStatus::running});
  ASSERT_TRUE(store_->append("a", 1, {example_series("x", 0, 5)}));
  ASSERT_TRUE(must_open(folder_ / "deep/er/history.db")->remove("a"));
  const auto appended = store_->append("a", 1, {example_series("x", 5, 5)});
  ASSERT_FALSE(appended);
  expect_in(appended.error().message, "removed meanwhile");
}

TEST_F(StoreTest, a_damaged_block_is_an_error_that_names_the_file) {
  add("s", {RunStatus::finished});
  ASSERT_TRUE(store_->append("s", 1, {example_series("x", 0, 5)}));
  auto db = Database::open(folder_ / "deep/er/history.db");
  ASSERT_TRUE(db->run("UPDATE tail SET data = x'4153420100ff'"));
  const auto read = store_->samples("s", 1);
  ASSERT_FALSE(read);
  expect_in(read.error().message, "history.db: a block of samples is damaged");
  EXPECT_FALSE(store_->compact("s", 1));
}

TEST_F(StoreTest, a_damaged_session_is_listed_and_can_be_removed) {
  add("a", {RunStatus::finished});
  add("b", {RunStatus::failed, RunStatus::running});
  auto db = Database::open(folder_ / "deep/er/history.db");
  ASSERT_TRUE(db->run("UPDATE sessions SET record = '[]' WHERE id = 'a'"));
  EXPECT_FALSE(store_->session("a"));
  EXPECT_EQ(store_->list()->size(), 2U);
  EXPECT_EQ(store_->summary("a")->status, "finished");
  EXPECT_FALSE(store_->summary("a")->running);
  EXPECT_TRUE(store_->summary("b")->running);
  EXPECT_FALSE(store_->summary("c"));
  ASSERT_TRUE(store_->remove("a"));
  EXPECT_EQ(store_->list()->size(), 1U);
}

TEST_F(StoreTest, a_damaged_run_whose_writer_is_gone_does_not_keep_others_from_being_marked) {
  add("a", {RunStatus::running});
  add("b", {RunStatus::running});
  auto db = Database::open(folder_ / "deep/er/history.db");
  ASSERT_TRUE(db->run("UPDATE runs SET writer_pid = 4194304"));
  ASSERT_TRUE(db->run("UPDATE runs SET record = '[]' WHERE session_id = 'a'"));
  ASSERT_EQ(*store_->cut_off(), (std::vector<std::string>{"a", "b"}));
  ASSERT_TRUE(store_->mark_interrupted({"a", "b"}));
  EXPECT_FALSE(store_->summary("b")->running);
  EXPECT_FALSE(store_->summary("a")->running);
}

TEST_F(StoreTest, columns_for_searching_follow_the_records) {
  add("s", {RunStatus::finished});
  auto db = Database::open(folder_ / "deep/er/history.db");
  EXPECT_EQ(
      *db->number("SELECT count(*) FROM runs WHERE limit_cpus = 1.5 AND board IS NOT NULL AND "
                  "repeat_index = 0 AND started_ns = 1000000000"),
      1);
  EXPECT_EQ(*db->number("SELECT count(*) FROM sessions WHERE labels ->> '$.site' = 'river'"), 1);
}

TEST_F(StoreTest, a_run_of_a_minute_written_bit_by_bit_stays_small) {
  add("s", {RunStatus::running});
  const auto columns = simulated_columns(600);
  std::vector<Series> batch(columns.size());
  for (size_t at = 0; at < 600; at += 4) {
    for (size_t i = 0; i < columns.size(); ++i) {
      const auto from = static_cast<std::ptrdiff_t>(at);
      batch[i].info.name = "series " + std::to_string(i);
      batch[i].times.assign(columns[i].times.begin() + from, columns[i].times.begin() + from + 4);
      batch[i].values.assign(columns[i].values.begin() + from,
                             columns[i].values.begin() + from + 4);
    }
    ASSERT_TRUE(store_->append("s", 1, batch));
  }
  const auto loose = *store_->size("s");
  ASSERT_TRUE(store_->compact("s", 1));
  const auto size = *store_->size("s");
  const auto per_sample = [](Store::Size s) {
    return static_cast<double>(s.bytes) / static_cast<double>(s.samples);
  };
  std::printf("%.3f bytes per sample, %.3f before compaction\n", per_sample(size),
              per_sample(loose));
  EXPECT_EQ(size.samples, columns.size() * 600);
  EXPECT_LE(per_sample(size), 1.5);
  EXPECT_EQ(stored(*store_, "s", 1, "series 8").values, columns[8].values);
}

TEST(OpenSqlite, what_is_not_a_database_is_refused_in_plain_words) {
  const TempFolder folder;
  std::ofstream(folder / "garbage.db") << std::string(8192, 'x');
  const auto store = open_sqlite(folder / "garbage.db");
  ASSERT_FALSE(store);
  expect_in(store.error().message, "garbage.db is not a history");
  expect_in(store.error().message, "--store");
}

TEST(OpenSqlite, a_database_of_another_program_is_left_alone) {
  const TempFolder folder;
  ASSERT_TRUE(Database::open(folder / "other.db")->run("CREATE TABLE bookmarks (url TEXT)"));
  const auto store = open_sqlite(folder / "other.db");
  ASSERT_FALSE(store);
  expect_in(store.error().message, "another program");
}

TEST(OpenSqlite, a_folder_that_cannot_be_made_is_named) {
  const TempFolder folder;
  std::ofstream(folder / "file") << "x";
  const auto store = open_sqlite(folder / "file/history.db");
  ASSERT_FALSE(store);
  expect_in(store.error().message, (folder / "file").native());
}

TEST(OpenSqlite, is_quick) {
  const TempFolder folder;
  const auto timed = [&] {
    const auto start = std::chrono::steady_clock::now();
    const auto store = must_open(folder / "history.db");
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
        .count();
  };
  const double fresh = timed();
  const double existing = timed();
  std::printf("opening a new history takes %.2f ms, an existing one %.2f ms\n", fresh, existing);
  EXPECT_LT(existing, 1000);  // the figure is for reading; only nonsense fails
}

TEST(DefaultStorePath, is_what_the_environment_says) {
  const TempFolder folder;
  ::setenv("ASSAY_STORE", (folder / "my.db").c_str(),
           1);  // NOLINT(concurrency-mt-unsafe): one thread
  EXPECT_EQ(default_store_path(), folder / "my.db");
  ::setenv("ASSAY_STORE", folder.path().c_str(), 1);  // NOLINT(concurrency-mt-unsafe): one thread
  EXPECT_EQ(default_store_path(), folder / "history.db");
  ::unsetenv("ASSAY_STORE");                            // NOLINT(concurrency-mt-unsafe): one thread
  ::setenv("XDG_DATA_HOME", folder.path().c_str(), 1);  // NOLINT(concurrency-mt-unsafe): one thread
  EXPECT_EQ(default_store_path(), folder / "assay/history.db");
}

}  // namespace
}  // namespace assay::store
