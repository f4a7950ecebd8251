// SPDX-License-Identifier: Apache-2.0
// What holds between processes: one writes, others read, one is killed, the disk is full.
#include "sqlite/database.h"
#include "test_support.h"

#include <csignal>
#include <functional>
#include <random>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <assay/base/files.h>
#include <gtest/gtest.h>

namespace assay::store {
namespace {

/// A child that runs `work` with the ends of two pipes: it writes a byte to tell something and
/// reads one to wait. Its exit code is what `work` returns.
class Child {
 public:
  explicit Child(const std::function<int(Child&)>& work) {
    int down[2];
    int up[2];
    if (::pipe(down) != 0 || ::pipe(up) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ == 0) {
      read_ = Fd(down[0]);
      write_ = Fd(up[1]);
      ::close(down[1]);
      ::close(up[0]);
      ::_exit(work(*this));
    }
    read_ = Fd(up[0]);
    write_ = Fd(down[1]);
    ::close(up[1]);
    ::close(down[0]);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ > 0) kill();
  }

  void tell() const { (void)!::write(write_.get(), "x", 1); }
  /// False when the other side is gone.
  bool wait_for_word() const {
    char byte = 0;
    return ::read(read_.get(), &byte, 1) == 1;
  }
  int join() {
    int status = 0;
    ::waitpid(std::exchange(pid_, 0), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
  }
  void kill() {
    ::kill(pid_, SIGKILL);
    join();
  }
  void kill_unreaped() const {
    ::kill(pid_, SIGKILL);
    siginfo_t info;
    ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
  }

 private:
  Fd read_;
  Fd write_;
  pid_t pid_ = 0;
};

/// Adds session "s" with a running run, and three batches of samples.
void write_some(Store& store) {
  SessionRecord session = example_session("s");
  session.runs = {example_run(1, RunStatus::running)};
  ASSERT_TRUE(store.add_session(session));
  for (size_t i = 0; i < 3; ++i) ASSERT_TRUE(store.append("s", 1, {example_series("a", i * 5, 5)}));
}

TEST(Processes, a_killed_writer_leaves_all_it_wrote_and_its_run_is_interrupted) {
  const TempFolder folder;
  Child child([&](Child& self) {
    const auto store = must_open(folder / "h.db");
    write_some(*store);
    self.tell();
    return self.wait_for_word() ? 0 : 1;
  });
  ASSERT_TRUE(child.wait_for_word());
  const auto store = must_open(folder / "h.db");
  EXPECT_TRUE(store->cut_off()->empty()) << "its writer lives";
  EXPECT_EQ(store->session("s")->runs[0].status, RunStatus::running);
  child.kill_unreaped();
  EXPECT_EQ(*store->cut_off(), std::vector<std::string>{"s"});
  ASSERT_TRUE(store->mark_interrupted({"another"}));
  EXPECT_EQ(store->session("s")->runs[0].status, RunStatus::running) << "not asked for";
  ASSERT_TRUE(store->mark_interrupted({"s"}));
  const auto run = store->session("s")->runs[0];
  EXPECT_EQ(run.status, RunStatus::interrupted);
  EXPECT_EQ(run.ended, example_series("a", 0, 15).times.back());
  expect_samples(stored(*store, "s", 1, "a"), example_series("a", 0, 15));
  EXPECT_TRUE(store->cut_off()->empty()) << "only once";
}

TEST(Processes, an_interrupted_run_without_samples_ends_when_it_started) {
  const TempFolder folder;
  Child child([&](Child&) {
    SessionRecord session = example_session("s");
    session.runs = {example_run(1, RunStatus::running)};
    return must_open(folder / "h.db")->add_session(session) ? 0 : 1;
  });
  ASSERT_EQ(child.join(), 0);
  const auto store = must_open(folder / "h.db");
  ASSERT_TRUE(store->mark_interrupted({"s"}));
  EXPECT_EQ(store->session("s")->runs[0].ended, example_run(1, RunStatus::running).started);
}

TEST(Processes, our_own_running_runs_are_left_alone) {
  const TempFolder folder;
  const auto store = must_open(folder / "h.db");
  write_some(*store);
  EXPECT_TRUE(store->cut_off()->empty());
  ASSERT_TRUE(store->mark_interrupted({"s"}));
  EXPECT_EQ(store->session("s")->runs[0].status, RunStatus::running);
}

/// A run whose writer is nobody here, but perhaps somebody in pid namespace 1; `age` is that of its
/// last sample.
void write_from_elsewhere(const TempFolder& folder, Nanoseconds age) {
  const auto store = must_open(folder / "h.db");
  write_some(*store);
  Series recent = example_series("a", 0, 1);
  recent.times[0] = std::chrono::system_clock::now() - age;
  ASSERT_TRUE(store->append("s", 1, {recent}));
  auto db = Database::open(folder / "h.db");
  ASSERT_TRUE(db->run("UPDATE runs SET writer_pid = 4194304, writer_namespace = 1"));
}

TEST(Processes, a_run_of_another_pid_namespace_is_left_alone_while_samples_come) {
  const TempFolder folder;
  write_from_elsewhere(folder, std::chrono::minutes(30));
  EXPECT_TRUE(must_open(folder / "h.db")->cut_off()->empty());
}

TEST(Processes, a_run_of_another_pid_namespace_is_cut_off_after_a_long_silence) {
  const TempFolder folder;
  write_from_elsewhere(folder, std::chrono::minutes(90));
  EXPECT_EQ(*must_open(folder / "h.db")->cut_off(), std::vector<std::string>{"s"});
}

TEST(Processes, a_run_of_another_pid_namespace_is_cut_off_when_the_machine_started_anew) {
  const TempFolder folder;
  write_from_elsewhere(folder, std::chrono::minutes(1));
  auto db = Database::open(folder / "h.db");
  ASSERT_TRUE(db->run("UPDATE runs SET writer_boot = 'of before'"));
  EXPECT_EQ(*must_open(folder / "h.db")->cut_off(), std::vector<std::string>{"s"});
}

TEST(Processes, a_reader_sees_each_write_of_another_process) {
  const TempFolder folder;
  Child child([&](Child& self) {
    const auto store = must_open(folder / "h.db");
    write_some(*store);
    for (size_t i = 3; i < 20; ++i) {
      self.tell();
      if (!self.wait_for_word()) return 1;
      if (!store->append("s", 1, {example_series("a", i * 5, 5)})) return 2;
      if (i % 5 == 0 && !store->compact("s", 1)) return 3;
    }
    return 0;
  });
  std::unique_ptr<Store> store;
  for (size_t i = 3; i < 20; ++i) {
    ASSERT_TRUE(child.wait_for_word());
    if (!store) store = must_open(folder / "h.db");
    expect_samples(stored(*store, "s", 1, "a"), example_series("a", 0, i * 5));
    child.tell();
  }
  EXPECT_EQ(child.join(), 0);
}

TEST(Processes, several_can_make_the_same_history_at_once) {
  const TempFolder folder;
  std::vector<std::unique_ptr<Child>> children;
  children.reserve(6);
  for (int i = 0; i < 6; ++i) {
    children.push_back(std::make_unique<Child>([&, i](Child& self) {
      if (!self.wait_for_word()) return 1;
      const auto store = open_sqlite(folder / "h.db");
      if (!store) {
        std::fprintf(stderr, "%s\n", store.error().message.c_str());
        return 2;
      }
      return (*store)->add_session(example_session("s" + std::to_string(i))) ? 0 : 3;
    }));
  }
  for (const auto& child : children) child->tell();
  for (const auto& child : children) EXPECT_EQ(child->join(), 0);
  EXPECT_EQ(must_open(folder / "h.db")->list()->size(), 6U);
}

/// A disk of one megabyte.
class SmallDisk {
 public:
  SmallDisk() {
    std::filesystem::create_directory(path());
    mounted_ = ::mount("assay-test", path().c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "size=1m") == 0;
    error_ = errno;
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk() {
    if (mounted_) ::umount2(path().c_str(), MNT_DETACH);
  }
  bool mounted() const { return mounted_; }
  int error() const { return error_; }
  std::filesystem::path path() const { return folder_ / "disk"; }

 private:
  TempFolder folder_;
  bool mounted_ = false;
  int error_ = 0;
};

TEST(FullDisk, says_so_and_keeps_what_was_stored_before) {
  const SmallDisk disk;
  if (!disk.mounted())
    GTEST_SKIP() << "cannot mount a tmpfs here: " << std::generic_category().message(disk.error());
  const auto file = disk.path() / "h.db";
  Series kept{{"noise", "", Kind::gauge, Scope::app, "test", {}}, {}, {}};
  const auto check = [&](Store& store) {
    const auto found = stored(store, "s", 1, "noise");
    EXPECT_EQ(found.times, kept.times);
    EXPECT_EQ(found.values, kept.values);
    EXPECT_EQ(store.session("last")->id, "s");
  };
  std::string message;
  {
    auto store = must_open(file);
    SessionRecord session = example_session("s");
    session.runs = {example_run(1, RunStatus::running)};
    ASSERT_TRUE(store->add_session(session));
    std::mt19937_64 random(1);
    while (message.empty() && kept.times.size() < 1'000'000) {
      Series batch = example_series("noise", kept.times.size(), 2000);
      batch.info = kept.info;
      for (auto& value : batch.values) value = static_cast<double>(random()) * 1e-300;
      if (const auto appended = store->append("s", 1, {batch}); !appended) {
        message = appended.error().message;
        break;
      }
      kept.times.insert(kept.times.end(), batch.times.begin(), batch.times.end());
      kept.values.insert(kept.values.end(), batch.values.begin(), batch.values.end());
    }
    expect_in(message, file.native());
    expect_in(message, "is full");
    EXPECT_GT(kept.times.size(), 2000U);
    check(*store);
  }
  check(*must_open(file));
}

}  // namespace
}  // namespace assay::store
