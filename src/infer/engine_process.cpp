// SPDX-License-Identifier: Apache-2.0
#include "engine_process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include <assay/base/spawn_actions.h>
#include <assay/base/text.h>

namespace assay::infer {
namespace {

using SteadyClock = std::chrono::steady_clock;

struct Pipe {
  Fd read;
  Fd write;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return refused_errno("cannot make a pipe", errno);
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

/// Unlike a pipe whose reader has gone, these give no signal.
Result<Pipe> make_sockets() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return refused_errno("cannot make sockets", errno);
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

bool send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

Result<pid_t> spawn(const std::vector<std::string>& command, int input, int output, int errors) {
  SpawnActions actions;
  ::posix_spawn_file_actions_adddup2(&actions.value, input, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions.value, output, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions.value, errors, STDERR_FILENO);
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const auto& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, command.front().c_str(), &actions.value, nullptr,
                                   arguments.data(), environ);
  if (error != 0) return refused_errno("cannot start " + command.front(), error);
  return pid;
}

std::string how(int status) {
  if (WIFSIGNALED(status)) return fmt::format("was ended by {}", ::strsignal(WTERMSIG(status)));
  return fmt::format("ended with {}", WEXITSTATUS(status));
}

}  // namespace

Result<LineProcess> LineProcess::start(const std::vector<std::string>& command) {
  if (command.empty()) return bad_input("there is no program to start");
  ASSAY_TRY(Pipe input, make_sockets());
  ASSAY_TRY(Pipe output, make_pipe());
  Fd errors(::memfd_create("engine-errors", MFD_CLOEXEC));
  if (!errors.valid()) return refused_errno("cannot make a file in memory", errno);
  ASSAY_TRY(const pid_t pid, spawn(command, input.read.get(), output.write.get(), errors.get()));
  return LineProcess(pid, command.front(), std::move(input.write), std::move(output.read),
                     std::move(errors));
}

LineProcess::LineProcess(pid_t pid, std::string program, Fd input, Fd output, Fd errors)
    : pid_(pid),
      program_(std::move(program)),
      input_(std::move(input)),
      output_(std::move(output)),
      errors_(std::move(errors)) {}

LineProcess::LineProcess(LineProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)),
      program_(std::move(other.program_)),
      input_(std::move(other.input_)),
      output_(std::move(other.output_)),
      errors_(std::move(other.errors_)),
      ahead_(std::move(other.ahead_)) {}

LineProcess& LineProcess::operator=(LineProcess&& other) noexcept {
  end();
  pid_ = std::exchange(other.pid_, 0);
  program_ = std::move(other.program_);
  input_ = std::move(other.input_);
  output_ = std::move(other.output_);
  errors_ = std::move(other.errors_);
  ahead_ = std::move(other.ahead_);
  return *this;
}

LineProcess::~LineProcess() {
  end();
}

void LineProcess::end() {
  if (pid_ == 0) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
}

/// The last line is mostly the one that explains.
std::string LineProcess::last_words() const {
  constexpr off_t kMost = 4096;
  const off_t size = ::lseek(errors_.get(), 0, SEEK_END);
  std::array<char, kMost> buffer{};
  const ssize_t n =
      ::pread(errors_.get(), buffer.data(), buffer.size(), std::max<off_t>(0, size - kMost));
  const std::string_view text = trim(std::string_view(buffer.data(), n > 0 ? n : 0));
  const size_t line = text.rfind('\n');
  return std::string(text.substr(line == text.npos ? 0 : line + 1).substr(0, 300));
}

Failure LineProcess::ended() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
  const std::string words = last_words();
  return refused(fmt::format("{} {}{}{}", program_, how(status), words.empty() ? "" : ": ", words));
}

Result<void> LineProcess::write(const std::string& line) {
  if (pid_ == 0) return refused(program_ + " has ended");
  if (send_all(input_.get(), line + "\n")) return {};
  return ended();
}

Result<std::string> LineProcess::read(Milliseconds patience) {
  if (pid_ == 0) return refused(program_ + " has ended");
  const auto end = SteadyClock::now() + patience;
  std::array<char, 65536> buffer{};
  while (true) {
    if (const size_t line = ahead_.find('\n'); line != ahead_.npos) {
      std::string text = ahead_.substr(0, line);
      ahead_.erase(0, line + 1);
      return text;
    }
    if (ahead_.size() > kLongestLine) return refused(program_ + " answers with a line without end");
    const auto left = std::chrono::ceil<Milliseconds>(end - SteadyClock::now());
    if (left.count() <= 0)
      return refused(fmt::format("{} did not answer within {:.0f} s", program_,
                                 static_cast<double>(patience.count()) / 1000));
    pollfd ready{output_.get(), POLLIN, 0};
    if (::poll(&ready, 1, static_cast<int>(std::min<int64_t>(left.count(), 60'000))) <= 0) continue;
    const ssize_t n = ::read(output_.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return LineProcess::ended();
    ahead_.append(buffer.data(), static_cast<size_t>(n));
  }
}

}  // namespace assay::infer
