// SPDX-License-Identifier: Apache-2.0
#include "docker/container_app.h"

#include "docker/orders.h"
#include "process/cgroup.h"
#include "process/exit_text.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <assay/base/text.h>

namespace assay::launch {
namespace {

using std::chrono::steady_clock;

constexpr auto kPatienceAtTheEnd = Milliseconds(10'000);
/// An app that ends closes its output a moment before; one that runs on for longer does not end.
constexpr auto kMomentOfTheEnd = Milliseconds(1000);

bool is_readable(const Fd& fd, Milliseconds patience = Milliseconds(0)) {
  pollfd waiting = {fd.get(), POLLIN, 0};
  return ::poll(&waiting, 1, static_cast<int>(patience.count())) > 0;
}

struct Usage {
  double user_seconds = 0;
  double system_seconds = 0;
};

/// What a v2 group's cpu.stat says behind a name, in microseconds.
std::optional<double> stat_seconds(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    std::string_view line = next_field(text, '\n');
    if (next_field(line, ' ') != name) continue;
    const auto value = parse_uint(line);
    if (value) return static_cast<double>(*value) * 1e-6;
  }
  return std::nullopt;
}

std::optional<Usage> cpu_usage(const probes::CgroupPaths& paths) {
  const SysRoot root;
  if (paths.unified) {
    const auto text = root.read(paths.v2 + "/cpu.stat");
    const auto user = text ? stat_seconds(*text, "user_usec") : std::nullopt;
    const auto system = text ? stat_seconds(*text, "system_usec") : std::nullopt;
    if (!user || !system) return std::nullopt;
    return Usage{*user, *system};
  }
  const auto read = [&](const char* file) -> std::optional<uint64_t> {
    const auto text = root.read(fmt::format("{}/{}", paths.cpuacct, file));
    return text ? parse_uint(*text) : std::nullopt;
  };
  const auto total = read("cpuacct.usage");
  const auto user = read("cpuacct.usage_user");
  const auto system = read("cpuacct.usage_sys");
  if (!total || !user || !system) return std::nullopt;
  // The parts are counted in ticks, the whole exactly.
  const double seconds = static_cast<double>(*total) * 1e-9;
  const auto parts = static_cast<double>(*user + *system);
  const double share = parts > 0 ? static_cast<double>(*user) / parts : 1;
  return Usage{seconds * share, seconds * (1 - share)};
}

class ContainerApp final : public RunningApp {
 public:
  ContainerApp(const net::Endpoint& endpoint, StartedContainer container, probes::AppTarget target,
               probes::CgroupPaths totals, Fd process)
      : engine_(endpoint),
        container_(std::move(container)),
        target_(std::move(target)),
        totals_(std::move(totals)),
        process_(std::move(process)) {
    engine_.set_patience(kPatienceAtTheEnd);
    if (container_.pid != 0)
      orders_ = std::make_unique<Orders>(endpoint, container_.id, process_.get());
  }
  ContainerApp(const ContainerApp&) = delete;
  ContainerApp& operator=(const ContainerApp&) = delete;
  ~ContainerApp() override {
    if (!released_) (void)!engine_.remove(container_.id);
  }

  const probes::AppTarget& target() const override { return target_; }
  std::string isolation() const override {
    if (target_.cgroup.empty()) return "process tree";
    return target_.cgroup.unified ? "cgroup v2" : "cgroup v1";
  }
  std::optional<Timestamp> started() const override { return container_.started; }
  std::vector<NotMeasured> notes() const override {
    std::vector<NotMeasured> all = container_.notes;
    if (container_.pid == 0)
      all.push_back({"app's processes", "the container had ended before they could be looked at"});
    if (lost_daemon()) {
      all.push_back({"app's output",
                     "the container daemon stopped or restarted during the run; what the app "
                     "wrote afterwards is lost"});
    } else if (ended_early_) {
      all.push_back({"app's output",
                     "its stream ended while the app went on; what the app wrote afterwards is not "
                     "kept"});
    }
    if (container_.logs && container_.logs->gave_up())
      all.push_back({"app's output",
                     "its stream did not end with the app; the end of the app's output may be "
                     "missing"});
    if (container_.logs && container_.logs->dropped_bytes() > 0)
      all.push_back({"app's output", fmt::format("{} bytes could not be written: is the disk full?",
                                                 container_.logs->dropped_bytes())});
    if (orders_ && orders_->was_paused())
      all.push_back({"app", "somebody had paused the container when it was to be stopped"});
    if (was_deaf_)
      all.push_back(
          {"app's stop",
           "the container daemon did not answer, or refused, when the app was stopped; its "
           "first process was signalled without it"});
    return all;
  }
  int exit_fd() const override { return process_.get(); }

  /// The group goes within milliseconds of the end, so what it counts is read here, again and
  /// again.
  std::optional<Exit> exited() override {
    if (exit_) return exit_;
    const bool gone = has_ended();
    if (const auto usage = cpu_usage(totals_)) usage_ = usage;
    if (const auto kills = oom_kills(SysRoot(), totals_)) oom_kills_ = *kills;
    if (const auto refused = forks_refused(SysRoot(), target_.cgroup)) forks_refused_ = *refused;
    if (!gone) {
      look_at_output();
      return std::nullopt;
    }
    exit_ = Exit{};
    return exit_;
  }

  void stop(StopStep step) override {
    if (orders_) orders_->stop(step);
  }

  std::optional<Error> left_behind() const override { return left_behind_; }

  Exit release() override {
    if (released_) return *exit_;
    released_ = true;
    Exit exit;
    if (usage_) {
      exit.user_seconds = usage_->user_seconds;
      exit.system_seconds = usage_->system_seconds;
    }
    exit.oom_killed = oom_kills_ > 0;
    exit.forks_refused = forks_refused_;
    if (orders_) was_deaf_ = orders_->was_deaf();
    complete(exit);
    if (container_.logs) container_.logs->finish();
    if (auto removed = engine_.remove(container_.id); !removed) {
      left_behind_ = Error{ErrorKind::environment,
                           fmt::format("container {} could not be removed: {}; `assay cleanup` "
                                       "removes it later",
                                       container_.id.substr(0, 12), removed.error().message)};
    }
    exit_ = exit;
    return exit;
  }

 private:
  bool has_ended() const { return is_readable(process_); }

  bool lost_daemon() const { return container_.logs && container_.logs->lost_daemon(); }

  void look_at_output() {
    if (!container_.logs || !container_.logs->ended()) return;
    if (!output_ended_) output_ended_ = steady_clock::now();
    ended_early_ = ended_early_ || steady_clock::now() - *output_ended_ > kMomentOfTheEnd;
  }

  static bool is_passing(const std::string& status) {
    return status == "running" || status == "stopping" || status == "removing";
  }

  /// The engine notices an end a little later than the kernel.
  Result<ContainerState> final_state() {
    constexpr int kLooks = 100;
    for (int look = 0;; ++look) {
      auto state = engine_.inspect(container_.id);
      if (!state || !is_passing(state->status) || look == kLooks) return state;
      ::poll(nullptr, 0, 20);
    }
  }

  void complete(Exit& exit) {
    if (!has_ended()) {
      exit.detail = "still running when it was given up; its container is removed by force";
      return;
    }
    const auto state = final_state();
    if (!state) {
      exit.detail = state.error().kind == ErrorKind::input
                        ? "the container was removed by somebody else"
                        : "ended; its exit code is not known: " + state.error().message;
      return;
    }
    if (state->status == "running" || state->status == "paused") {
      exit.detail =
          "ended; the container daemon takes it for running, so its exit code is not known";
      return;
    }
    set_exit_code(exit, state->exit_code);
    exit.oom_killed = exit.oom_killed || state->oom_killed;
    exit.detail = exit_detail(exit, container_.memory_limit);
    if (lost_daemon()) exit.detail += "; the container daemon had stopped or restarted before";
  }

  Engine engine_;
  StartedContainer container_;
  probes::AppTarget target_;
  probes::CgroupPaths totals_;
  Fd process_;
  std::unique_ptr<Orders> orders_;
  std::optional<Usage> usage_;
  uint64_t oom_kills_ = 0;
  std::optional<steady_clock::time_point> output_ended_;  ///< while the app ran
  bool ended_early_ = false;
  uint64_t forks_refused_ = 0;
  bool was_deaf_ = false;
  std::optional<Error> left_behind_;
  std::optional<Exit> exit_;
  bool released_ = false;
};

}  // namespace

void set_exit_code(Exit& exit, int code) {
  constexpr int kBySignal = 128;
  constexpr std::array<int, 7> kDeadly = {SIGILL, SIGTRAP, SIGABRT, SIGBUS,
                                          SIGFPE, SIGKILL, SIGSEGV};
  const bool deadly = std::find(kDeadly.begin(), kDeadly.end(), code - kBySignal) != kDeadly.end();
  if (deadly) {
    exit.signal = code - kBySignal;
  } else {
    exit.code = code;
  }
}

namespace {

struct Groups {
  probes::CgroupPaths sampled;
  probes::CgroupPaths totals;
};

/// A process that ends has left its groups a moment before it is seen to end.
Groups find_groups(StartedContainer& container, const Fd& process) {
  constexpr auto kMoment = Milliseconds(100);
  auto own = container_groups(SysRoot(), container.pid, container.id);
  const bool gone = is_readable(process, own.empty() ? kMoment : Milliseconds(0));
  if (gone && own.empty()) own = container.groups_before;
  const auto& above = container.group;
  if (above && (gone || above->is_above(own))) return {above->sampled(own), above->totals(own)};
  if (own.empty() && !gone) {
    container.notes.push_back({"own control group",
                               "the container's cannot be seen from here; measured by its process "
                               "tree instead"});
  }
  return {own, own};
}

}  // namespace

Result<std::unique_ptr<RunningApp>> watch_container(const net::Endpoint& endpoint,
                                                    StartedContainer container) {
  Fd process;
  if (container.pid != 0) {
    process = Fd(static_cast<int>(::syscall(SYS_pidfd_open, container.pid, 0)));
    if (!process.valid() && errno != ESRCH)
      return refused_errno(fmt::format("cannot watch process {}", container.pid), errno);
  }
  // Readable at once: an app that is gone already.
  if (!process.valid()) {
    process = Fd(::eventfd(1, EFD_CLOEXEC));
    container.pid = 0;
  }
  Groups groups = find_groups(container, process);
  probes::AppTarget target;
  target.cgroup = std::move(groups.sampled);
  // Never the whole machine: an app that is gone has no processes but those of nobody.
  target.root = container.pid == 0 ? ::getpid() : container.pid;
  target.include_root = container.pid != 0;
  return std::make_unique<ContainerApp>(endpoint, std::move(container), std::move(target),
                                        std::move(groups.totals), std::move(process));
}

}  // namespace assay::launch
