// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>

#include <assay/base/time.h>
#include <assay/hooks/pywaggle_log.h>
#include <gtest/gtest.h>

namespace assay::hooks {
namespace {

namespace fs = std::filesystem;

constexpr Timestamp kNow = from_unix_ns(1'661'261'230'562'104'000);  // 2022-08-23T13:27:10 UTC

std::string line(const std::string& name, const std::string& value,
                 const std::string& time = "2022-08-23T13:27:10.562104000") {
  return R"({"meta":{},"name":")" + name + R"(","timestamp":")" + time + R"(","value":)" + value +
         "}\n";
}

class Following : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "assay-pywaggle-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    follow({});
  }
  void TearDown() override { fs::remove_all(folder_); }
  void follow(const Limits& limits) {
    log_ = follow_pywaggle_log(folder_, clock_, series_, limits);
  }
  fs::path file() const { return folder_ / "data.ndjson"; }
  void append(const std::string& text) const { std::ofstream(file(), std::ios::app) << text; }
  std::vector<double> values(const std::string& name) const {
    const Series* found = series_.find(name);
    return found == nullptr ? std::vector<double>{} : found->values;
  }
  uint64_t lost(const std::string& reason) const {
    uint64_t count = 0;
    for (const Loss& loss : series_.losses()) count += loss.reason == reason ? loss.count : 0;
    return count;
  }

  fs::path folder_;
  ManualClock clock_{kNow};
  MemorySeries series_;
  std::unique_ptr<PywaggleLog> log_;
};

TEST_F(Following, takes_numbers_as_events_of_the_app) {
  log_->poll();
  append(line("env.temperature", "23.5"));
  log_->poll();
  const Series* series = series_.find("env.temperature");
  ASSERT_NE(series, nullptr);
  EXPECT_EQ(series->info.kind, Kind::event);
  EXPECT_EQ(series->info.source, "published through pywaggle");
  EXPECT_EQ(series->values, (std::vector<double>{23.5}));
  EXPECT_LT(kNow - series->times.at(0), std::chrono::microseconds(1));
  EXPECT_EQ(log_->latest().at("env.temperature"), 23.5);
}

TEST_F(Following, turns_timers_into_seconds) {
  append(line("plugin.duration.inference", "1005408000"));
  log_->poll();
  EXPECT_EQ(series_.find("plugin.duration.inference")->info.unit, "seconds");
  EXPECT_EQ(values("plugin.duration.inference"), (std::vector<double>{1.0054}));
}

TEST_F(Following, counts_texts_apart_and_not_as_loss) {
  append(line("label", R"("cat")") + line("upload", R"("/uploads/1-a.jpg")") + line("a", "1"));
  log_->poll();
  EXPECT_EQ(log_->texts(), 2U);
  EXPECT_TRUE(series_.losses().empty());
  EXPECT_EQ(values("a"), (std::vector<double>{1}));
}

TEST_F(Following, reads_a_local_time_of_any_zone) {
  clock_.advance(std::chrono::seconds(1));
  append(line("a", "1", "2022-08-23T15:27:10.562104000"));
  log_->poll();
  EXPECT_LT(kNow - series_.find("a")->times.at(0), std::chrono::microseconds(1));
  EXPECT_TRUE(series_.losses().empty());
}

TEST_F(Following, waits_for_the_rest_of_a_line) {
  const std::string whole = line("a", "12");
  append(whole.substr(0, 20));
  log_->poll();
  append(whole.substr(20) + line("a", "3"));
  log_->poll();
  EXPECT_EQ(values("a"), (std::vector<double>{12, 3}));
}

TEST_F(Following, counts_garbage_and_goes_on) {
  append("garbage\n" + std::string(70'000, 'x') + "\n" + line("a", "1") + "{\"name\"");
  log_->finish();
  EXPECT_EQ(values("a"), (std::vector<double>{1}));
  EXPECT_EQ(lost("message is not a JSON object"), 1U);
  EXPECT_EQ(lost("message is too long"), 1U);
  EXPECT_EQ(lost("client left in the middle of a message"), 1U);
}

TEST_F(Following, begins_again_when_the_file_is_cut_short) {
  append(line("a", "1") + line("a", "2"));
  log_->poll();
  std::ofstream(file(), std::ios::trunc) << line("a", "3");
  log_->poll();
  EXPECT_EQ(values("a"), (std::vector<double>{1, 2, 3}));
}

TEST_F(Following, goes_on_with_the_file_that_replaces_it) {
  append(line("a", "1"));
  log_->poll();
  append(line("a", "2"));
  fs::rename(file(), folder_ / "data.ndjson.1");
  append(line("a", "3"));
  log_->poll();
  EXPECT_EQ(values("a"), (std::vector<double>{1, 2, 3}));
}

TEST_F(Following, reads_so_much_a_poll_and_the_rest_at_the_end) {
  Limits limits;
  limits.bytes_per_poll = 3 * line("a", "1").size();
  follow(limits);
  for (int i = 0; i < 10; ++i) append(line("a", "1"));
  log_->poll();
  EXPECT_EQ(values("a").size(), 3U);
  log_->finish();
  EXPECT_EQ(values("a").size(), 10U);
}

TEST_F(Following, bounds_what_is_read_at_the_end) {
  append(line("a", "1"));
  fs::resize_file(file(), 200U << 20U);
  log_->finish();
  EXPECT_EQ(values("a"), (std::vector<double>{1}));
  EXPECT_EQ(lost("log is longer than can be read at the end"), 1U);
}

TEST_F(Following, opens_no_link_and_waits_for_no_pipe) {
  const fs::path elsewhere = folder_ / "elsewhere";
  std::ofstream(elsewhere) << line("a", "1");
  fs::create_symlink(elsewhere, file());
  log_->poll();
  fs::remove(file());
  ASSERT_EQ(::mkfifo(file().c_str(), 0600), 0);
  log_->poll();
  log_->finish();
  EXPECT_TRUE(values("a").empty());
}

TEST_F(Following, bounds_the_number_of_names) {
  Limits limits;
  limits.names = 2;
  follow(limits);
  append(line("a", "1") + line("b", "1") + line("c", "1"));
  log_->poll();
  EXPECT_EQ(lost("too many different names"), 1U);
}

}  // namespace
}  // namespace assay::hooks
