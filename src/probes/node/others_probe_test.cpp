// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <assay/probes/probe.h>
#include <gtest/gtest.h>

namespace assay::probes {
namespace {

namespace fs = std::filesystem;
constexpr pid_t kApp = 500;
constexpr pid_t kAssay = 400;

/// A node whose processes a test writes down; a second passes with each reading.
class Others : public ::testing::Test {
 public:
  Others() {
    write("/proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    process(1, 0, "init", 100);
  }
  ~Others() override { fs::remove_all(folder_); }

 protected:
  void write(const std::string& path, const std::string& text) {
    const fs::path file = folder_ / path.substr(1);
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  void process(pid_t pid, pid_t parent, const std::string& name, int ticks) {
    write(fmt::format("/proc/{}/stat", pid),
          fmt::format("{} ({}) S {} 1 1 0 -1 0 0 0 0 0 {} 0 0 0 20 0 1 0 50 1000 10 0\n", pid, name,
                      parent, ticks));
  }
  void group(pid_t pid, const std::string& path) {
    write(fmt::format("/proc/{}/cgroup", pid), "0::" + path + "\n");
    fs::create_directories(folder_ / ("sys/fs/cgroup" + path));
  }
  void end(pid_t pid) { fs::remove_all(folder_ / fmt::format("proc/{}", pid)); }

  void read() {
    if (!probe_) {
      AppTarget app;
      app.root = kApp;
      app.cgroup.unified = true;
      app.cgroup.v2 = "/sys/fs/cgroup/docker/app";
      AppTarget assay;
      assay.root = kAssay;
      probe_ = others_probe(SysRoot(folder_), {app, assay}, busiest_);
      ASSERT_TRUE(probe_->open(sink_));
    } else {
      clock_.advance(std::chrono::seconds(1));
    }
    ASSERT_TRUE(probe_->sample(clock_, sink_));
  }

  std::string shown() const {
    std::string text;
    for (const auto& other : busiest_)
      text += fmt::format("{} {:.2f};", other.name, other.cpu_cores);
    return text;
  }

  fs::path folder_ = fs::temp_directory_path() / fmt::format("assay-others-{}", getpid());
  ManualClock clock_{from_unix_ns(1'000'000'000)};
  MemorySeries sink_;
  std::vector<OtherProcess> busiest_;
  std::unique_ptr<Probe> probe_;
};

TEST_F(Others, are_named_with_what_they_used_since_the_first_reading_busiest_first) {
  process(10, 1, "ntpd", 4000);
  process(11, 1, "backup (nightly)", 900);
  read();
  EXPECT_EQ(shown(), "");
  process(10, 1, "ntpd", 4025);
  process(11, 1, "backup (nightly)", 1000);
  read();
  EXPECT_EQ(shown(), "backup (nightly) 1.00;ntpd 0.25;");
  read();
  EXPECT_EQ(shown(), "backup (nightly) 0.50;ntpd 0.12;");
}

TEST_F(Others, are_not_the_app_nor_assay_nor_what_these_started) {
  for (const int ticks : {0, 100}) {
    process(kApp, 1, "app", ticks);
    process(501, kApp, "worker", ticks);
    process(kAssay, 1, "assay", ticks);
    process(401, kAssay, "sh", ticks);
    process(402, 401, "ffmpeg", ticks);
    process(12, 1, "stress", ticks);
    read();
  }
  EXPECT_EQ(shown(), "stress 1.00;");
}

TEST_F(Others, are_not_in_the_control_group_of_the_app) {
  for (const int ticks : {0, 100}) {
    process(600, 1, "joined the app", ticks);
    process(601, 1, "neighbour", ticks);
    group(600, "/docker/app/below");
    group(601, "/docker/app2");
    read();
  }
  EXPECT_EQ(shown(), "neighbour 1.00;");
}

TEST_F(Others, that_began_and_ended_during_the_run_count_together_by_name) {
  read();
  process(20, 1, "cc1plus", 80);
  read();
  end(20);
  process(21, 1, "cc1plus", 40);
  read();
  EXPECT_EQ(shown(), "cc1plus 0.60;");
}

TEST_F(Others, with_the_number_of_one_that_ended_start_anew) {
  process(30, 1, "old", 5000);
  read();
  process(30, 1, "new", 70);
  read();
  EXPECT_EQ(shown(), "new 0.70;");
}

TEST_F(Others, of_the_kernel_have_one_name_for_all_cores) {
  for (const int ticks : {0, 30}) {
    process(40, 2, "kworker/0:1-events", ticks);
    process(41, 2, "kworker/1:0", ticks);
    process(42, 1, "a/b", ticks);
    read();
  }
  EXPECT_EQ(shown(), "kworker 0.60;a/b 0.30;");
}

TEST_F(Others, that_are_nearly_idle_add_up_until_they_count) {
  for (const int ticks : {0, 3, 6}) {
    process(50, 1, "ticker", ticks);
    read();
  }
  EXPECT_EQ(shown(), "ticker 0.03;");
  process(51, 1, "still", 0);
  for (int second = 0; second < 10; ++second) read();
  EXPECT_EQ(shown(), "") << "below a hundredth of a core";
}

TEST_F(Others, are_read_every_five_seconds_in_a_long_run) {
  int readings = 0;
  for (int second = 0; second <= 80; ++second) {
    const std::string before = shown();
    process(55, 1, "faster and faster", 2 * second * second);
    read();
    if (second > 60 && shown() != before) ++readings;
  }
  EXPECT_EQ(readings, 4);
}

TEST_F(Others, are_five_at_most) {
  for (const int ticks : {0, 10}) {
    for (int i = 0; i < 9; ++i) process(60 + i, 1, fmt::format("p{}", i), ticks * (i + 1));
    read();
  }
  EXPECT_EQ(shown(), "p8 0.90;p7 0.80;p6 0.70;p5 0.60;p4 0.50;");
}

TEST_F(Others, of_a_container_engine_are_one) {
  for (const int ticks : {0, 10}) {
    process(80, 1, "dockerd", ticks);
    process(81, 80, "containerd", ticks);
    process(82, 1, "containerd-shim", ticks);
    process(83, 1, "conmon", ticks);
    process(84, 1, "podman", ticks);
    process(85, 1, "docker", ticks);
    read();
  }
  EXPECT_EQ(shown(), "container engine 0.50;docker 0.10;");
}

TEST_F(Others, of_a_container_engine_are_told_beside_five_that_are_busier) {
  for (const int ticks : {0, 10}) {
    process(80, 1, "dockerd", ticks);
    for (int i = 0; i < 6; ++i) process(60 + i, 1, fmt::format("p{}", i), 2 * ticks);
    read();
  }
  EXPECT_EQ(shown(), "p0 0.20;p1 0.20;p2 0.20;p3 0.20;p4 0.20;container engine 0.10;");
}

/// Uses a fifth of a second of CPU time under the name "assay-burn", then waits to be ended.
pid_t burner(int ready) {
  const pid_t child = fork();
  if (child != 0) return child;
  prctl(PR_SET_NAME, "assay-burn");
  timespec used{};
  while (used.tv_sec == 0 && used.tv_nsec < 200'000'000) {
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  }
  if (write(ready, "x", 1) != 1) _exit(1);
  pause();
  _exit(0);
}

double cores_of(const std::vector<OtherProcess>& list, const std::string& name) {
  for (const auto& other : list) {
    if (other.name == name) return other.cpu_cores;
  }
  return 0;
}

TEST(OthersOfThisMachine, are_read_from_the_kernels_clocks) {
  constexpr size_t kAll = 100'000;
  ManualClock clock(from_unix_ns(1'000'000'000));
  MemorySeries sink;
  std::vector<OtherProcess> seen;
  std::vector<OtherProcess> seen_without;
  AppTarget self;
  self.root = getpid();
  const auto all = others_probe(SysRoot(), {}, seen, kAll);
  const auto not_ours = others_probe(SysRoot(), {self}, seen_without, kAll);
  for (const auto* probe : {&all, &not_ours}) {
    ASSERT_TRUE((*probe)->open(sink));
    ASSERT_TRUE((*probe)->sample(clock, sink));
  }
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = burner(ready[1]);
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  clock.advance(std::chrono::seconds(1));
  for (const auto* probe : {&all, &not_ours}) ASSERT_TRUE((*probe)->sample(clock, sink));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  for (const int fd : ready) close(fd);
  EXPECT_GE(cores_of(seen, "assay-burn"), 0.2);
  EXPECT_EQ(cores_of(seen_without, "assay-burn"), 0);
}

}  // namespace
}  // namespace assay::probes
