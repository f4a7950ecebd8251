// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <assay/base/files.h>
#include <assay/infer/child.h>

namespace assay::infer {
namespace {

/// All that the new process needs, made before it is: between fork and exec nothing may allocate.
struct Plan {
  std::vector<char*> arguments;
  std::array<int, 3> streams{};
  int report = -1;  ///< where it writes an errno; closes by itself when the program runs
  pid_t parent = 0;
};

[[noreturn]] void give_up(const Plan& plan) {
  const int error = errno;
  const ssize_t written = ::write(plan.report, &error, sizeof error);
  ::_exit(written < 0 ? 126 : 127);
}

/// As a fresh program has them: we may have blocked or ignored some.
void reset_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGCHLD}) ::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void become(const Plan& plan) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != plan.parent) ::_exit(126);  // it ended before the kernel knew of our wish
  reset_signals();
  for (int i = 0; i < 3; ++i) {
    if (::dup2(plan.streams[static_cast<size_t>(i)], i) < 0) give_up(plan);
  }
  ::execvp(plan.arguments.front(), plan.arguments.data());
  give_up(plan);
}

/// 0 when the program runs.
int read_report(int fd) {
  int error = 0;
  ssize_t n = 0;
  do {
    n = ::read(fd, &error, sizeof error);
  } while (n < 0 && errno == EINTR);
  return n == sizeof error ? error : 0;
}

std::vector<char*> as_arguments(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const auto& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  return arguments;
}

}  // namespace

Result<Child> Child::start(const std::vector<std::string>& command, const Streams& streams) {
  if (command.empty()) return bad_input("there is no program to start");
  const Fd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  std::array<int, 2> ends{};
  if (!nothing.valid() || ::pipe2(ends.data(), O_CLOEXEC) != 0)
    return refused_errno("cannot start " + command.front(), errno);
  const Fd report(ends[0]);
  Fd told(ends[1]);
  Plan plan{as_arguments(command), {}, told.get(), ::getpid()};
  const std::array wanted = {streams.input, streams.output, streams.errors};
  for (size_t i = 0; i < wanted.size(); ++i)
    plan.streams[i] = wanted[i] < 0 ? nothing.get() : wanted[i];
  const pid_t pid = ::fork();
  if (pid < 0) return refused_errno("cannot start " + command.front(), errno);
  if (pid == 0) become(plan);
  ::setpgid(pid, pid);  // whoever comes first
  told.reset();
  Child child(pid);
  if (const int error = read_report(report.get()); error != 0)
    return refused_errno("cannot start " + command.front(), error);
  return child;
}

Child& Child::operator=(Child&& other) noexcept {
  end();
  pid_ = std::exchange(other.pid_, 0);
  return *this;
}

bool Child::running() {
  if (pid_ == 0) return false;
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == 0;
}

int Child::wait() {
  if (pid_ == 0) return 0;
  siginfo_t info{};
  int ended = -1;
  do {
    ended = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
  } while (ended < 0 && errno == EINTR);
  // Until it is reaped, nobody else's group can have its number.
  if (ended == 0) ::kill(-pid_, SIGKILL);
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
  return status;
}

bool Child::ends_within(Milliseconds patience) {
  constexpr std::chrono::milliseconds kLookAgain{5};
  const auto end = std::chrono::steady_clock::now() + patience;
  while (running() && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(kLookAgain);
  return !running();
}

int Child::wait(Milliseconds patience) {
  if (!ends_within(patience)) ::kill(-pid_, SIGKILL);
  return wait();
}

void Child::end() {
  if (pid_ == 0) return;
  ::kill(-pid_, SIGKILL);
  wait();
}

std::optional<int> Child::end(Milliseconds patience) {
  if (pid_ == 0) return std::nullopt;
  ::kill(-pid_, SIGKILL);
  if (ends_within(patience)) return wait();
  pid_ = 0;
  return std::nullopt;
}

}  // namespace assay::infer
