// SPDX-License-Identifier: Apache-2.0
#include "process/attach.h"

#include "process/tree.h"

#include <cerrno>
#include <fmt/format.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

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

Result<void> check_permission(pid_t pid, const SysRoot& root) {
  const std::string io = root.path(fmt::format("/proc/{}/io", pid)).native();
  if (::access(io.c_str(), F_OK) != 0 || ::access(io.c_str(), R_OK) == 0) return {};
  return refused(
      fmt::format("no permission to measure process {}: run as its user, or with sudo", pid));
}

Result<std::unique_ptr<RunningApp>> watch(pid_t pid, const probes::CgroupPaths& groups,
                                          const char* why_without, const SysRoot& root) {
  if (pid <= 0) return bad_input(fmt::format("{} is no pid", pid));
  Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process.valid()) return cannot_open(pid, errno);
  ASSAY_CHECK(check_permission(pid, root));
  Fd stopped(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  ASSAY_TRY(Fd either, watch_both(process.get(), stopped.get()));
  std::vector<NotMeasured> notes;
  if (groups.empty()) {
    notes.push_back({"own control group",
                     fmt::format("{}; measured by its process tree instead", why_without)});
  }
  probes::AppTarget target;
  target.root = pid;
  target.cgroup = groups;
  return std::make_unique<AttachedApp>(std::move(target), std::move(notes), std::move(process),
                                       std::move(stopped), std::move(either));
}

}  // namespace

Result<std::unique_ptr<RunningApp>> attach(pid_t pid, const SysRoot& root) {
  probes::CgroupPaths groups = probes::cgroups_of(root, pid);
  const bool had_group = !groups.empty();
  drop_shared_groups(root, pid, groups);
  return watch(pid, groups,
               had_group ? "the process shares its control group with others"
                         : "the process is in no control group of its own",
               root);
}

Result<std::unique_ptr<RunningApp>> attach_with(pid_t pid, const probes::CgroupPaths& groups,
                                                const SysRoot& root) {
  return watch(pid, groups, "the container's cannot be seen from here", root);
}

}  // namespace assay::launch
