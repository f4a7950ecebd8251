// SPDX-License-Identifier: Apache-2.0
#include "process/app_child.h"
#include "process/tree.h"
#include "process/wire.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <string>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <assay/base/files.h>
#include <assay/launch/launcher.h>

namespace assay::launch {
namespace {

using std::chrono::steady_clock;

constexpr auto kGrace = Milliseconds(200);
constexpr auto kKillAgain = Milliseconds(20);
/// A process that even SIGKILL cannot end hangs in a driver; nobody should wait for it forever.
constexpr auto kGiveUp = std::chrono::seconds(10);

uint64_t max_rss_bytes(int whose) {
  rusage used = {};
  ::getrusage(whose, &used);
  return static_cast<uint64_t>(used.ru_maxrss) * 1024;
}

double to_seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

class Keeper {
 public:
  explicit Keeper(int socket) : socket_(socket) {}

  int run() {
    prepare();
    while (!done_) {
      pollfd waiting[2] = {{socket_, POLLIN, 0}, {child_ended_.get(), POLLIN, 0}};
      ::poll(waiting, 2, -1);
      if (waiting[1].revents != 0) notice_children();
      if (waiting[0].revents != 0) obey();
    }
    return left_ ? 1 : 0;
  }

 private:
  void prepare() {
    sigset_t all;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);  // nothing but SIGKILL ends a keeper
    sigset_t child;
    ::sigemptyset(&child);
    ::sigaddset(&child, SIGCHLD);
    ::close_range(static_cast<unsigned>(socket_) + 1, ~0U, 0);
    child_ended_ = Fd(::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
    ::fcntl(socket_, F_SETFD, FD_CLOEXEC);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    ::prctl(PR_SET_NAME, "assay-keeper");
  }

  void obey() {
    const auto order = receive_order(socket_, Wait::no);
    if (order.closed) return abandon();
    if (!order.message) return;
    switch (order.message->kind) {
      case OrderKind::start:
        return start(order.message->value);
      case OrderKind::stop:
        return stop(static_cast<StopStep>(order.message->value));
      case OrderKind::release:
        return release();
    }
    abandon();
  }

  void start(size_t size) {
    const auto order = receive_start(socket_, size);
    if (!order || main_ != 0) return abandon();
    groups_ = order->cgroups;
    before_exec_ = max_rss_bytes(RUSAGE_SELF);
    const Spawned spawned = spawn_app(*order);
    main_ = spawned.pid;
    Report report;
    report.kind = spawned.pid == 0 ? ReportKind::failed : ReportKind::started;
    report.pid = spawned.pid;
    report.stage = spawned.stage;
    report.error = spawned.error;
    tell(report);
    done_ = spawned.pid == 0;
  }

  void stop(StopStep step) {
    if (main_ == 0) return;
    // The main process is not reaped before release, so its pid and group are still its own.
    if (step == StopStep::interrupt) ::kill(-main_, SIGINT);
    if (step == StopStep::terminate) signal_tree(SIGTERM);
    if (step == StopStep::kill) signal_tree(SIGKILL);
  }

  /// Once the main process has ended nothing is reaped until release: it has to stay readable.
  void notice_children() {
    drain_signals();
    while (main_ != 0 && !ended_) {
      siginfo_t info = {};
      if (::waitid(P_PID, static_cast<id_t>(main_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
          info.si_pid == main_) {
        ended_ = true;
        how_ = info.si_code;
        status_ = info.si_status;
        return tell(status_report(ReportKind::ended));
      }
      info = {};
      if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) return;
      if (info.si_pid != main_) ::waitpid(info.si_pid, nullptr, 0);
    }
  }

  void release() {
    if (!reap_until(steady_clock::now())) {
      signal_tree(SIGTERM);
      left_ = !reap_until(steady_clock::now() + kGrace) && !kill_all();
    }
    rusage used = {};
    ::getrusage(RUSAGE_CHILDREN, &used);
    Report report = status_report(ReportKind::released);
    report.left = left_ ? 1 : 0;
    report.user_seconds = to_seconds(used.ru_utime);
    report.system_seconds = to_seconds(used.ru_stime);
    const uint64_t largest = max_rss_bytes(RUSAGE_CHILDREN);
    if (largest > before_exec_) report.max_rss_bytes = largest;
    remove_groups();
    tell(report);
    done_ = true;
  }

  /// `assay` is gone, or no longer makes sense: the app ends at once.
  void abandon() {
    left_ = !kill_all();
    remove_groups();
    done_ = true;
  }

  bool kill_all() {
    const auto give_up = steady_clock::now() + kGiveUp;
    do {
      freeze_or_kill_groups(groups_);
      signal_tree(SIGKILL);
      if (reap_until(steady_clock::now() + kKillAgain)) return true;
    } while (steady_clock::now() < give_up);
    return false;
  }

  void signal_tree(int signal) {
    for (const pid_t pid : processes_of_tree(groups_, ::getpid())) ::kill(pid, signal);
  }

  /// Reaps until no child is left, which for a subreaper means that the whole tree is gone. False
  /// when the time came first.
  bool reap_until(steady_clock::time_point deadline) {
    while (true) {
      siginfo_t info = {};
      const int result = ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG);
      if (result != 0 && errno == ECHILD) return true;
      if (result == 0 && info.si_pid != 0) {
        if (info.si_pid == main_ && !ended_) {
          ended_ = true;
          how_ = info.si_code;
          status_ = info.si_status;
        }
        continue;
      }
      const auto left = std::chrono::ceil<Milliseconds>(deadline - steady_clock::now());
      if (left.count() <= 0) return false;
      pollfd waiting = {child_ended_.get(), POLLIN, 0};
      ::poll(&waiting, 1, static_cast<int>(left.count()));
      drain_signals();
    }
  }

  void drain_signals() {
    signalfd_siginfo info = {};
    while (::read(child_ended_.get(), &info, sizeof info) > 0) {
    }
  }

  void remove_groups() {
    for (const auto& folder : groups_) remove_group(folder);
  }

  Report status_report(ReportKind kind) const {
    Report report;
    report.kind = kind;
    report.pid = main_;
    report.how = how_;
    report.status = status_;
    return report;
  }

  /// Should it fail, the socket is closed, which the loop sees by itself.
  void tell(const Report& report) {
    if (!send_report(socket_, report)) return;
  }

  int socket_;
  Fd child_ended_;
  std::vector<std::string> groups_;
  pid_t main_ = 0;
  /// The kernel bills the app with what its process held as our copy, before exec: a mark no higher
  /// than that tells nothing about the app.
  uint64_t before_exec_ = 0;
  bool ended_ = false;
  int how_ = 0;
  int status_ = 0;
  bool left_ = false;
  bool done_ = false;
};

}  // namespace

int keeper_main(int fd) {
  return Keeper(fd).run();
}

}  // namespace assay::launch
