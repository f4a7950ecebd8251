// SPDX-License-Identifier: Apache-2.0
#include "engine_process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include <assay/base/pipe.h>
#include <assay/base/text.h>

namespace assay::infer {
namespace {

using SteadyClock = std::chrono::steady_clock;

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
  ASSAY_TRY(Child child,
            Child::start(command, {input.read.get(), output.write.get(), errors.get()}));
  return LineProcess(std::move(child), command.front(), std::move(input.write),
                     std::move(output.read), std::move(errors));
}

LineProcess::LineProcess(Child child, std::string program, Fd input, Fd output, Fd errors)
    : child_(std::move(child)),
      program_(std::move(program)),
      input_(std::move(input)),
      output_(std::move(output)),
      errors_(std::move(errors)) {}

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
  constexpr Milliseconds kToEnd{1000};  // it may have closed its output alone
  const int status = child_.wait(kToEnd);
  const std::string words = last_words();
  return refused(fmt::format("{} {}{}{}", program_, how(status), words.empty() ? "" : ": ", words));
}

Result<void> LineProcess::write(const std::string& line) {
  if (pid() == 0) return refused(program_ + " has ended");
  if (send_all(input_.get(), line + "\n")) return {};
  return ended();
}

/// Until there is something to read; an error when nobody wants it any more, or at the end.
Result<void> LineProcess::await(SteadyClock::time_point end) {
  constexpr int64_t kLookAgain = 100;
  while (true) {
    const auto left = std::chrono::ceil<Milliseconds>(end - SteadyClock::now());
    if (left.count() <= 0)
      return fail({ErrorKind::environment, program_ + " does not answer in time", true});
    if (wanted_ && !wanted_()) return refused("interrupted");
    pollfd ready{output_.get(), POLLIN, 0};
    if (::poll(&ready, 1, static_cast<int>(std::min(left.count(), kLookAgain))) > 0) return {};
  }
}

Result<std::string> LineProcess::read(Milliseconds patience) {
  if (pid() == 0) return refused(program_ + " has ended");
  const auto end = SteadyClock::now() + patience;
  std::array<char, 65536> buffer{};
  while (true) {
    if (const size_t line = ahead_.find('\n'); line != ahead_.npos) {
      std::string text = ahead_.substr(0, line);
      ahead_.erase(0, line + 1);
      return text;
    }
    if (ahead_.size() > kLongestLine) return refused(program_ + " answers with a line without end");
    ASSAY_CHECK(await(end));
    const ssize_t n = ::read(output_.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return ended();
    ahead_.append(buffer.data(), static_cast<size_t>(n));
  }
}

}  // namespace assay::infer
