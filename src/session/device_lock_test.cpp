// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <assay/base/text.h>
#include <assay/session/device_lock.h>
#include <gtest/gtest.h>

namespace assay::session {
namespace {

namespace fs = std::filesystem;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Another process that does something, tells a line about it and then waits to be killed.
class Other {
 public:
  explicit Other(const std::function<std::string()>& body) {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const Fd reading(ends[0]);
    Fd writing(ends[1]);
    pid_ = ::fork();
    if (pid_ == 0) {
      const std::string line = body() + "\n";
      if (::write(writing.get(), line.data(), line.size()) < 0) ::_exit(1);
      while (true) ::pause();
    }
    writing.reset();
    char c = 0;
    while (::read(reading.get(), &c, 1) == 1 && c != '\n') line_ += c;
  }
  ~Other() { kill(); }
  Other(const Other&) = delete;
  Other& operator=(const Other&) = delete;

  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  pid_t pid() const { return pid_; }
  const std::string& line() const { return line_; }

 private:
  pid_t pid_ = 0;
  std::string line_;
};

class DeviceLockTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "assay-lock-XXXXXX").native();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    ::chmod(name.c_str(), 01777);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path file() const { return folder_ / "assay.lock"; }
  Result<DeviceLock> acquire(const LockWait& wait = {}, const std::string& who = "own") const {
    return DeviceLock::acquire(who, wait, {file()});
  }
  std::string hold(const std::string& who) const {
    static std::optional<DeviceLock> kept;
    auto lock = acquire({}, who);
    if (!lock) return lock.error().message;
    kept.emplace(std::move(*lock));
    return "held";
  }
  std::string text() const {
    std::string line;
    std::ifstream in(file());
    std::getline(in, line);
    return line;
  }

  fs::path folder_;
};

TEST_F(DeviceLockTest, is_had_at_once_when_nobody_has_it_and_again_afterwards) {
  for (int i = 0; i < 2; ++i) {
    const auto lock = acquire({}, "waggle/app:1");
    ASSERT_TRUE(lock) << lock.error().message;
    EXPECT_EQ(lock->note(), "");
    EXPECT_TRUE(has(text(), fmt::format("waggle/app:1 (pid {}, uid ", ::getpid()))) << text();
  }
  EXPECT_EQ(text(), "");
}

TEST_F(DeviceLockTest, that_another_has_is_an_error_with_who_it_is_and_how_to_wait) {
  const Other other([&] { return hold("waggle/other:1"); });
  ASSERT_EQ(other.line(), "held");
  const auto lock = acquire();
  ASSERT_FALSE(lock);
  const std::string& message = lock.error().message;
  EXPECT_TRUE(has(message, fmt::format("waggle/other:1 (pid {}, uid ", other.pid()))) << message;
  EXPECT_TRUE(has(message, "--wait")) << message;
  EXPECT_TRUE(has(message, "--no-lock")) << message;
  EXPECT_EQ(lock.error().kind, ErrorKind::environment);
  EXPECT_TRUE(lock.error().temporary);
}

TEST_F(DeviceLockTest, is_waited_for_until_its_holder_is_killed) {
  Other other([&] { return hold("waggle/other:1"); });
  ASSERT_EQ(other.line(), "held");
  std::vector<std::string> told;
  LockWait wait;
  wait.patience = LockWait::kForever;
  wait.on_wait = [&](const std::string& holder) {
    told.push_back(holder);
    other.kill();
  };
  const auto lock = acquire(wait, "next");
  ASSERT_TRUE(lock) << lock.error().message;
  ASSERT_EQ(told.size(), 1U);
  EXPECT_TRUE(told[0].starts_with("waggle/other:1 (pid ")) << told[0];
  EXPECT_TRUE(has(text(), "next (pid ")) << text();
  EXPECT_FALSE(has(text(), "waggle/other")) << text();
}

TEST_F(DeviceLockTest, is_given_up_when_patience_ends) {
  const Other other([&] { return hold("other"); });
  LockWait wait;
  wait.patience = Milliseconds(150);
  const auto lock = acquire(wait);
  ASSERT_FALSE(lock);
  EXPECT_TRUE(has(lock.error().message, "still in use after 150 ms by other"))
      << lock.error().message;
}

TEST_F(DeviceLockTest, is_given_up_when_interrupted) {
  const Other other([&] { return hold("other"); });
  int ends[2] = {-1, -1};
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const Fd reading(ends[0]);
  const Fd writing(ends[1]);
  LockWait wait;
  wait.patience = LockWait::kForever;
  wait.interrupt_fd = reading.get();
  wait.on_wait = [&](const std::string&) { ASSERT_EQ(::write(writing.get(), "x", 1), 1); };
  const auto lock = acquire(wait);
  ASSERT_FALSE(lock);
  EXPECT_TRUE(has(lock.error().message, "interrupted while waiting for other"))
      << lock.error().message;
}

TEST_F(DeviceLockTest, tells_of_the_next_holder_too) {
  Other first([&] { return hold("first"); });
  std::optional<Other> second;
  std::vector<std::string> told;
  LockWait wait;
  wait.patience = LockWait::kForever;
  wait.on_wait = [&](const std::string& holder) {
    told.push_back(holder.substr(0, holder.find(' ')));
    if (told.size() == 1) {
      first.kill();
      second.emplace([&] { return hold("second"); });
    } else {
      second->kill();
    }
  };
  ASSERT_TRUE(acquire(wait));
  EXPECT_EQ(told, (std::vector<std::string>{"first", "second"}));
}

TEST_F(DeviceLockTest, is_not_held_by_programs_that_its_holder_started) {
  Other other([&] {
    const std::string held = hold("other");
    pid_t program = 0;
    char name[] = "sleep";
    char seconds[] = "600";
    char* const argv[] = {name, seconds, nullptr};
    if (::posix_spawnp(&program, name, nullptr, nullptr, argv, environ) != 0) return std::string();
    return held == "held" ? fmt::to_string(program) : held;
  });
  const auto program = static_cast<pid_t>(parse_int(other.line()).value_or(0));
  ASSERT_GT(program, 0) << other.line();
  other.kill();
  // The kernel lets the holder go on a moment before it closes the program's copies.
  LockWait wait;
  wait.patience = std::chrono::seconds(20);
  EXPECT_TRUE(acquire(wait));
  EXPECT_EQ(::kill(program, SIGKILL), 0);
}

TEST_F(DeviceLockTest, that_is_let_go_is_free_although_a_child_was_forked_from_it) {
  auto lock = std::make_unique<Result<DeviceLock>>(acquire());
  ASSERT_TRUE(*lock);
  const Other child([] { return std::string("up"); });
  ASSERT_EQ(child.line(), "up");
  lock.reset();
  EXPECT_TRUE(acquire());
}

TEST_F(DeviceLockTest, is_for_all_users_whoever_makes_it) {
  if (::getuid() != 0) GTEST_SKIP() << "only root can be two users";
  constexpr uid_t kNobody = 65534;
  const mode_t before = ::umask(077);
  ASSERT_TRUE(acquire());
  ::umask(before);
  EXPECT_EQ(fs::status(file()).permissions(), fs::perms(0666));
  const Other other([&] {
    if (::setuid(kNobody) != 0) return std::string("no other user");
    return hold("theirs");
  });
  ASSERT_EQ(other.line(), "held");
  const auto lock = acquire();
  ASSERT_FALSE(lock);
  EXPECT_TRUE(has(lock.error().message, "uid 65534")) << lock.error().message;
}

TEST_F(DeviceLockTest, never_writes_through_a_link_nor_into_what_is_no_plain_file) {
  std::ofstream(folder_ / "precious") << "content";
  fs::create_symlink(folder_ / "precious", file());
  EXPECT_FALSE(acquire());
  fs::remove(file());
  fs::create_hard_link(folder_ / "precious", file());
  const auto lock = acquire();
  ASSERT_FALSE(lock);
  EXPECT_TRUE(has(lock.error().message, "should be a plain file")) << lock.error().message;
  fs::remove(file());
  ASSERT_EQ(::mkfifo(file().c_str(), 0666), 0);
  EXPECT_FALSE(acquire());
  fs::remove(file());
  fs::create_directory(file());
  EXPECT_FALSE(acquire());
  std::string content;
  std::ifstream(folder_ / "precious") >> content;
  EXPECT_EQ(content, "content");
}

TEST_F(DeviceLockTest, whose_file_was_removed_is_the_one_that_others_find) {
  Other other([&] { return hold("other"); });
  LockWait wait;
  wait.patience = LockWait::kForever;
  wait.on_wait = [&](const std::string&) {
    fs::remove(file());
    other.kill();
  };
  const auto lock = acquire(wait);
  ASSERT_TRUE(lock) << lock.error().message;
  EXPECT_TRUE(fs::exists(file()));
  EXPECT_FALSE(acquire());
}

TEST_F(DeviceLockTest, is_elsewhere_with_a_note_where_its_folder_is_missing) {
  const auto lock = DeviceLock::acquire("own", {}, {folder_ / "none/assay.lock", file()});
  ASSERT_TRUE(lock) << lock.error().message;
  EXPECT_TRUE(has(lock->note(), file().native())) << lock->note();
  EXPECT_TRUE(has(lock->note(), "do not wait for this one")) << lock->note();
  const auto none = DeviceLock::acquire("own", {}, {folder_ / "none/assay.lock"});
  ASSERT_FALSE(none);
  EXPECT_TRUE(has(none.error().message, "--no-lock")) << none.error().message;
}

TEST_F(DeviceLockTest, in_a_container_says_for_whom_it_holds) {
  std::ofstream(folder_ / ".dockerenv") << "";
  {
    const auto lock = DeviceLock::acquire("own", {}, {file(), "/other"}, SysRoot(folder_));
    ASSERT_TRUE(lock);
    EXPECT_TRUE(has(lock->note(), "in a container")) << lock->note();
  }
  fs::remove(folder_ / ".dockerenv");
  const auto lock = DeviceLock::acquire("own", {}, {file(), "/other"}, SysRoot(folder_));
  ASSERT_TRUE(lock);
  EXPECT_EQ(lock->note(), "");
}

TEST_F(DeviceLockTest, shows_nothing_strange_that_somebody_wrote_as_holder) {
  const Other other([&] { return hold("other"); });
  std::ofstream(file()) << "a\x1b[2Jb\x01\nmore";
  const auto lock = acquire();
  ASSERT_FALSE(lock);
  EXPECT_TRUE(has(lock.error().message, "by a?[2Jb?; wait")) << lock.error().message;
}

TEST(LockFiles, are_the_machines_or_the_one_that_the_environment_names) {
  ::unsetenv("ASSAY_LOCK");
  EXPECT_EQ(lock_files(), (std::vector<fs::path>{"/run/lock/assay.lock", "/tmp/assay.lock"}));
  ::setenv("ASSAY_LOCK", "/somewhere/lock", 1);
  EXPECT_EQ(lock_files(), (std::vector<fs::path>{"/somewhere/lock"}));
  ::unsetenv("ASSAY_LOCK");
}

}  // namespace
}  // namespace assay::session
