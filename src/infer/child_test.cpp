// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <csignal>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <assay/base/files.h>
#include <assay/infer/child.h>
#include <gtest/gtest.h>

namespace assay::infer {
namespace {

struct Ends {
  Fd read;
  Fd write;
  Ends() {
    std::array<int, 2> fds{};
    EXPECT_EQ(::pipe2(fds.data(), O_CLOEXEC), 0);
    read = Fd(fds[0]);
    write = Fd(fds[1]);
  }
  /// All that is written until nobody has the other end.
  std::string drain() {
    write.reset();
    std::string text;
    std::array<char, 256> buffer{};
    for (ssize_t n = 1; (n = ::read(read.get(), buffer.data(), buffer.size())) > 0;)
      text.append(buffer.data(), static_cast<size_t>(n));
    return text;
  }
};

TEST(Child, has_the_streams_that_it_is_given_and_tells_how_it_ended) {
  Ends pipe;
  auto child = Child::start({"sh", "-c", "cat; echo done; exit 7"}, {.output = pipe.write.get()});
  ASSERT_TRUE(child) << child.error().message;
  EXPECT_EQ(pipe.drain(), "done\n");
  const int status = child->wait();
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  EXPECT_EQ(child->pid(), 0);
  EXPECT_FALSE(child->running());
}

TEST(Child, that_is_no_program_is_an_error) {
  const auto child = Child::start({"/nowhere/program"}, {});
  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().message, "cannot start /nowhere/program: No such file or directory");
}

TEST(Child, takes_what_it_started_with_it) {
  Ends pipe;
  {
    auto child = Child::start({"sh", "-c", "sleep 1000 & wait"}, {.output = pipe.write.get()});
    ASSERT_TRUE(child);
    EXPECT_TRUE(child->running());
  }
  EXPECT_EQ(pipe.drain(), "");  // comes to its end only when nobody of the group is left
}

TEST(Child, that_cannot_be_ended_in_time_is_left_to_the_kernel) {
  // It leaves its group for ours, so that the kill has no effect.
  Ends pipe;
  auto child = Child::start({"perl", "-e",
                             "setpgrp(0, getpgrp(getppid())) or die; syswrite(STDOUT, 'left'); "
                             "close(STDOUT); sleep(1000)"},
                            {.output = pipe.write.get()});
  ASSERT_TRUE(child);
  ASSERT_EQ(pipe.drain(), "left");
  const pid_t pid = child->pid();
  EXPECT_FALSE(child->end(Milliseconds(20)));
  EXPECT_EQ(child->pid(), 0);
  ASSERT_EQ(::kill(pid, SIGKILL), 0);
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);  // nobody else has
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

TEST(Child, that_is_ended_in_time_tells_how_it_ended) {
  Ends pipe;
  auto child = Child::start({"sh", "-c", "exit 7"}, {.output = pipe.write.get()});
  ASSERT_TRUE(child);
  pipe.drain();
  const auto status = child->end(Milliseconds(10'000));
  ASSERT_TRUE(status);
  EXPECT_TRUE(WIFEXITED(*status) && WEXITSTATUS(*status) == 7);
  EXPECT_FALSE(child->end(Milliseconds(10'000)));
}

TEST(Child, that_ends_by_itself_leaves_nobody_behind) {
  Ends pipe;
  auto child = Child::start({"sh", "-c", "sleep 1000 & exit 7"}, {.output = pipe.write.get()});
  ASSERT_TRUE(child);
  const int status = child->wait();
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  EXPECT_EQ(pipe.drain(), "");
}

TEST(Child, dies_with_a_parent_that_is_killed) {
  Ends pipe;
  const pid_t parent = ::fork();
  if (parent == 0) {
    auto child = Child::start({"sleep", "1000"}, {.output = pipe.write.get()});
    ::kill(::getpid(), SIGKILL);
  }
  ASSERT_EQ(::waitpid(parent, nullptr, 0), parent);
  EXPECT_EQ(pipe.drain(), "");
}

TEST(Child, has_signals_as_a_fresh_program_has_them) {
  sigset_t interrupt;
  sigset_t before;
  ::sigemptyset(&interrupt);
  ::sigaddset(&interrupt, SIGINT);
  ::sigprocmask(SIG_BLOCK, &interrupt, &before);
  auto child = Child::start({"sleep", "1000"}, {});
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  ASSERT_TRUE(child);
  ::kill(child->pid(), SIGINT);
  const int status = child->wait();
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
}

}  // namespace
}  // namespace assay::infer
