// SPDX-License-Identifier: Apache-2.0
#include "process/tree.h"

#include <cerrno>
#include <fmt/format.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <assay/launch/launcher.h>

namespace assay::launch {
namespace {

/// Watches; the exit descriptor gathers the process's end and the wish to stop watching.
class AttachedApp final : public RunningApp {
 public:
  AttachedApp(probes::AppTarget target, std::vector<NotMeasured> notes, Fd process, Fd stopped,
              Fd either)
      : target_(std::move(target)),
        notes_(std::move(notes)),
        process_(std::move(process)),
        stopped_(std::move(stopped)),
        either_(std::move(either)) {}

  const probes::AppTarget& target() const override { return target_; }
  std::string isolation() const override { return "attached"; }
  std::vector<NotMeasured> notes() const override { return notes_; }
  int exit_fd() const override { return either_.get(); }

  std::optional<Exit> exited() override {
    if (exit_) return exit_;
    pollfd waiting = {process_.get(), POLLIN, 0};
    if (::poll(&waiting, 1, 0) > 0) {
      exit_ = Exit{};
      exit_->detail = "ended while watched";
    } else if (stop_asked_) {
      exit_ = still_running();
    }
    return exit_;
  }

  void stop(StopStep /*step*/) override {
    stop_asked_ = true;
    ::eventfd_write(stopped_.get(), 1);
  }

  Exit release() override { return exited().value_or(still_running()); }

 private:
  static Exit still_running() {
    Exit exit;
    exit.detail = "still running when the watching ended";
    return exit;
  }

  probes::AppTarget target_;
  std::vector<NotMeasured> notes_;
  Fd process_;
  Fd stopped_;
  Fd either_;
  bool stop_asked_ = false;
  std::optional<Exit> exit_;
};

/// Keeps only the groups in which nobody but the tree lives: other groups would count others' use
/// too.
void drop_shared_groups(const SysRoot& root, pid_t pid, probes::CgroupPaths& paths) {
  std::vector<pid_t> tree = probes::descendants(root, pid);
  tree.push_back(pid);
  for (std::string* folder :
       {&paths.v2, &paths.cpu, &paths.cpuacct, &paths.memory, &paths.blkio, &paths.pids}) {
    if (folder->empty()) continue;
    if (!holds_only(root.path(*folder).native(), tree)) folder->clear();
  }
  if (paths.unified && paths.v2.empty()) paths = {};
}

Result<Fd> watch_both(int process, int stopped) {
  Fd either(::epoll_create1(EPOLL_CLOEXEC));
  epoll_event event = {};
  event.events = EPOLLIN;
  if (!either.valid() || ::epoll_ctl(either.get(), EPOLL_CTL_ADD, process, &event) != 0 ||
      ::epoll_ctl(either.get(), EPOLL_CTL_ADD, stopped, &event) != 0) {
    return refused_errno("cannot wait for the process's end", errno);
  }
  return either;
}

Failure cannot_open(pid_t pid, int error) {
  if (error == ESRCH) return bad_input(fmt::format("no process has the pid {}", pid));
  // A thread has a /proc folder too, but is no process.
  if (error == EINVAL)
    return bad_input(fmt::format("{} is no process (but perhaps a thread)", pid));
  return refused_errno(fmt::format("cannot watch process {}", pid), error);
}

}  // namespace

Result<std::unique_ptr<RunningApp>> attach(pid_t pid, const SysRoot& root) {
  if (pid <= 0) return bad_input(fmt::format("{} is no pid", pid));
  Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process.valid()) return cannot_open(pid, errno);
  const std::string io = root.path(fmt::format("/proc/{}/io", pid)).native();
  if (::access(io.c_str(), F_OK) == 0 && ::access(io.c_str(), R_OK) != 0) {
    return refused(
        fmt::format("no permission to measure process {}: run as its user, or with sudo", pid));
  }
  Fd stopped(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  ASSAY_TRY(Fd either, watch_both(process.get(), stopped.get()));

  probes::AppTarget target;
  target.root = pid;
  target.cgroup = probes::cgroups_of(root, pid);
  const bool had_group = !target.cgroup.empty();
  drop_shared_groups(root, pid, target.cgroup);
  std::vector<NotMeasured> notes;
  if (target.cgroup.empty()) {
    notes.push_back({"own control group",
                     had_group
                         ? "the process shares its control group with others; measured by its "
                           "process tree instead"
                         : "the process is in no control group of its own; measured by its "
                           "process tree instead"});
  }
  return std::make_unique<AttachedApp>(std::move(target), std::move(notes), std::move(process),
                                       std::move(stopped), std::move(either));
}

}  // namespace assay::launch
