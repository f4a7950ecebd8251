// SPDX-License-Identifier: Apache-2.0
// On this machine's own kernel: what the probes say against what the kernel tells the parent.
#include "test_support.h"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <assay/probes/probe.h>
#include <gtest/gtest.h>

namespace assay::probes {
namespace {
namespace fs = std::filesystem;

constexpr size_t kMegabyte = 1U << 20U;

/// A child that does one step of its work each time it is told to.
class Child {
 public:
  using Step = std::function<void()>;

  explicit Child(const std::vector<Step>& steps) {
    int to[2];
    int from[2];
    if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0) return;
    pid_ = fork();
    if (pid_ == 0) {
      close(to[1]);
      char byte = 0;
      for (const auto& step : steps) {
        if (read(to[0], &byte, 1) != 1) _exit(1);
        step();
        if (write(from[1], &byte, 1) != 1) _exit(1);
      }
      (void)!read(to[0], &byte, 1);
      _exit(0);
    }
    close(to[0]);
    close(from[1]);
    tell_ = Fd(to[1]);
    hear_ = Fd(from[0]);
  }
  ~Child() { end(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  void step() {
    char byte = 1;
    ASSERT_EQ(write(tell_.get(), &byte, 1), 1);
    ASSERT_EQ(read(hear_.get(), &byte, 1), 1) << "the child has died";
  }
  /// Lets it exit and stay a zombie.
  void finish() {
    tell_.reset();
    siginfo_t info{};
    waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
  }
  rusage end() {
    rusage usage{};
    tell_.reset();
    if (pid_ > 0) wait4(pid_, nullptr, 0, &usage);
    pid_ = 0;
    return usage;
  }

 private:
  pid_t pid_ = 0;
  Fd tell_;
  Fd hear_;
};

double own_cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

void burn(double cpu_seconds) {
  const double end = own_cpu_seconds() + cpu_seconds;
  while (own_cpu_seconds() < end) {
  }
}

void* touch(size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::memset(memory, 1, bytes);
  return memory;
}

double total_seconds(const rusage& usage) {
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

double peak(const Watched& app, const std::string& name) {
  const auto series = app.find(name);
  return *std::max_element(series->values.begin(), series->values.end());
}

/// Control groups of a test, removed at its end; empty where they cannot be made.
class OwnGroups {
 public:
  OwnGroups() {
    const fs::path top = "/sys/fs/cgroup";
    const std::string name = "assay-probes-test-" + std::to_string(getpid());
    for (const auto& [controller, folder] :
         {std::pair{"cpuacct", &paths_.cpuacct}, std::pair{"memory", &paths_.memory}}) {
      std::error_code error;
      const fs::path group = top / controller / name;
      if (fs::exists(top / controller / "cgroup.procs", error) &&
          fs::create_directory(group, error)) {
        *folder = group.native();
      }
    }
  }
  ~OwnGroups() {
    for (const auto& folder : {paths_.cpuacct, paths_.memory}) {
      if (!folder.empty()) rmdir(folder.c_str());
    }
  }
  OwnGroups(const OwnGroups&) = delete;
  OwnGroups& operator=(const OwnGroups&) = delete;

  bool complete() const { return !paths_.cpuacct.empty() && !paths_.memory.empty(); }
  const CgroupPaths& paths() const { return paths_; }
  void enter() const {
    for (const auto& folder : {paths_.cpuacct, paths_.memory}) {
      const Fd file(open((folder + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
      if (!write_all(file.get(), "0")) _exit(2);
    }
  }

 private:
  CgroupPaths paths_;
};

TEST(LiveApp, in_its_own_groups_agrees_with_the_kernels_totals) {
  const OwnGroups groups;
  if (!groups.complete())
    GTEST_SKIP() << "no cgroup v1 folders can be made here (not root, or cgroup v2 only)";
  Child child({[&] { groups.enter(); }, [] { touch(64 * kMegabyte); }, [] { burn(0.15); }});
  child.step();
  AppTarget target;
  target.cgroup = groups.paths();
  target.root = child.pid();
  Watched app(app_probes(SysRoot(), target));
  app.sample();
  child.step();
  app.sample();
  child.step();
  child.finish();
  app.sample();
  EXPECT_DOUBLE_EQ(app.value("processes"), 0);
  const rusage usage = child.end();
  EXPECT_NEAR(app.value("cpu_usage_seconds_total"), total_seconds(usage),
              0.02 * total_seconds(usage) + 0.002);
  const double max_rss = static_cast<double>(usage.ru_maxrss) * 1024;
  EXPECT_NEAR(peak(app, "memory_rss_bytes"), max_rss, 0.02 * max_rss);
  EXPECT_GE(app.value("memory_peak_bytes"), 64.0 * kMegabyte);
}

TEST(LiveApp, as_a_tree_counts_children_that_came_and_went) {
  const auto run_child = [] {
    const pid_t pid = fork();
    if (pid == 0) {
      burn(0.1);
      _exit(0);
    }
    waitpid(pid, nullptr, 0);
  };
  Child child({run_child, [] { burn(0.1); }});
  AppTarget target;
  target.root = getpid();
  target.include_root = false;
  Watched app(app_probes(SysRoot(), target));
  app.sample();
  const double before = app.value("cpu_usage_seconds_total");
  child.step();
  app.sample();
  child.step();
  child.finish();
  app.sample();
  const double as_zombie = app.value("cpu_usage_seconds_total");
  const rusage usage = child.end();
  app.sample();
  EXPECT_NEAR(as_zombie - before, total_seconds(usage), 0.025) << "ticks of 10 ms";
  EXPECT_GE(app.value("cpu_usage_seconds_total"), as_zombie) << "reaped: now in its parent's total";
  EXPECT_NEAR(app.value("cpu_usage_seconds_total"), as_zombie, 0.025);
}

TEST(LiveApp, shows_a_peak_between_two_beats) {
  Child child({[] { munmap(touch(48 * kMegabyte), 48 * kMegabyte); }});
  AppTarget target;
  target.root = child.pid();
  Watched app(app_probes(SysRoot(), target));
  app.sample();
  child.step();
  app.sample();
  EXPECT_LT(app.value("memory_rss_bytes"), 40.0 * kMegabyte);
  EXPECT_GE(peak(app, "memory_rss_bytes"), 48.0 * kMegabyte);
  EXPECT_GE(app.value("memory_peak_bytes"), 48.0 * kMegabyte);
  const auto times = app.find("memory_rss_bytes")->times;
  EXPECT_TRUE(std::is_sorted(times.begin(), times.end()));
}

TEST(LiveApp, keeps_a_child_whose_parent_has_died) {
  int hold[2];
  ASSERT_EQ(pipe2(hold, O_CLOEXEC), 0);
  Child child({[&] {
    if (fork() == 0) {
      char byte = 0;
      close(hold[1]);
      (void)!read(hold[0], &byte, 1);
      _exit(0);
    }
    close(hold[1]);
  }});
  child.step();
  AppTarget target;
  target.root = child.pid();
  Watched app(app_probes(SysRoot(), target));
  app.sample();
  EXPECT_DOUBLE_EQ(app.value("processes"), 2);
  child.end();
  app.sample();
  EXPECT_DOUBLE_EQ(app.value("processes"), 1) << "the orphan still belongs to the app";
  close(hold[0]);
  close(hold[1]);
}

TEST(LiveApp, finds_a_child_born_later) {
  Child child({[] {
    static int hold[2];
    if (pipe(hold) == 0 && fork() == 0) {
      char byte = 0;
      close(hold[1]);
      (void)!read(hold[0], &byte, 1);
      _exit(0);
    }
  }});
  AppTarget target;
  target.root = child.pid();
  Watched app(app_probes(SysRoot(), target));
  app.sample();
  EXPECT_DOUBLE_EQ(app.value("processes"), 1);
  // Sanitizers and emulators have threads of their own, which begin when they like.
  const bool alone = app.value("threads") == 1;
  child.step();
  app.sample();
  EXPECT_DOUBLE_EQ(app.value("processes"), 2) << "born after the probes were opened";
  if (alone) {
    EXPECT_DOUBLE_EQ(app.value("threads"), 2);
  }
  EXPECT_GT(app.value("open_files"), 4);
  EXPECT_GT(app.value("context_switches_total"), 0);
}

TEST(LiveApp, with_this_machines_network_refers_to_the_node) {
  AppTarget target;
  target.root = getpid();
  const Watched app(app_probes(SysRoot(), target));
  EXPECT_NE(app.closed().at("app network").find("shares this machine's network"),
            std::string::npos);
}

TEST(LiveApp, with_its_own_network_is_measured) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to make a network namespace";
  Child child({[] {
    if (unshare(CLONE_NEWNET) != 0) _exit(3);
  }});
  child.step();
  AppTarget target;
  target.root = child.pid();
  Watched app(app_probes(SysRoot(), target));
  app.sample();
  EXPECT_DOUBLE_EQ(app.value("network_receive_bytes_total"), 0) << "an empty network";
}

}  // namespace
}  // namespace assay::probes
