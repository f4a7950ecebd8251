// SPDX-License-Identifier: Apache-2.0
#include "docker/container_app.h"

#include "process/cgroup.h"
#include "process/exit_text.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <fmt/format.h>
#include <mutex>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <assay/base/text.h>

namespace assay::launch {
namespace {

constexpr std::array<const char*, 3> kSignals = {"SIGINT", "SIGTERM", "SIGKILL"};
constexpr auto kPatience = Milliseconds(2000);
constexpr auto kPatienceAtTheEnd = Milliseconds(10'000);
constexpr std::array<int, 3> kSignalNumbers = {SIGINT, SIGTERM, SIGKILL};

/// Gives the engine orders without making the run wait for it.
class Orders {
 public:
  Orders(const net::Endpoint& endpoint, std::string id, int process)
      : engine_(endpoint), id_(std::move(id)), process_(process) {
    engine_.set_patience(kPatience);
    thread_ = std::thread([this] { run(); });
  }
  Orders(const Orders&) = delete;
  Orders& operator=(const Orders&) = delete;
  ~Orders() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }

  void stop(StopStep step) {
    {
      const std::lock_guard lock(mutex_);
      steps_.push_back(step);
    }
    changed_.notify_one();
  }

  bool was_paused() const { return was_paused_; }
  bool was_deaf() const { return was_deaf_; }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return over_ || !steps_.empty(); });
      if (steps_.empty()) return;
      // A daemon that hangs must not hold up the stronger step behind the weaker one.
      const StopStep step = steps_.back();
      steps_.clear();
      lock.unlock();
      obey(step);
      lock.lock();
    }
  }

  /// An engine that does not answer must not keep the app alive: where we may, we signal it
  /// ourselves.
  void obey(StopStep step) {
    const auto index = static_cast<size_t>(step);
    if (const auto state = engine_.inspect(id_); state && state->paused) was_paused_ = true;
    const auto told = engine_.kill(id_, kSignals[index]);
    if (told || told.error().kind == ErrorKind::input) return;
    was_deaf_ = true;
    ::syscall(SYS_pidfd_send_signal, process_, kSignalNumbers[index], nullptr, 0);
  }

  Engine engine_;
  std::string id_;
  int process_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<StopStep> steps_;
  bool over_ = false;
  std::atomic<bool> was_paused_ = false;
  std::atomic<bool> was_deaf_ = false;
  std::thread thread_;
};

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
               Fd process)
      : engine_(endpoint),
        container_(std::move(container)),
        target_(std::move(target)),
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
  std::vector<NotMeasured> notes() const override {
    std::vector<NotMeasured> all = container_.notes;
    if (container_.pid == 0)
      all.push_back({"app's processes", "the container had ended before they could be looked at"});
    if (lost_daemon_)
      all.push_back({"app's output",
                     "the container daemon stopped or restarted during the run; what the app "
                     "wrote afterwards is lost"});
    if (container_.logs && container_.logs->dropped_bytes() > 0)
      all.push_back({"app's output", fmt::format("{} bytes could not be written: is the disk full?",
                                                 container_.logs->dropped_bytes())});
    if (orders_ && orders_->was_paused())
      all.push_back({"app", "somebody had paused the container when it was to be stopped"});
    if (was_deaf_)
      all.push_back({"exit code", "the container daemon did not answer when the app was stopped"});
    return all;
  }
  int exit_fd() const override { return process_.get(); }

  /// The group goes within milliseconds of the end, so what it counts is read here, again and
  /// again.
  std::optional<Exit> exited() override {
    if (exit_) return exit_;
    const bool gone = has_ended();
    if (const auto usage = cpu_usage(target_.cgroup)) usage_ = usage;
    if (const auto kills = oom_kills(SysRoot(), target_.cgroup)) oom_kills_ = *kills;
    if (!gone) {
      lost_daemon_ = lost_daemon_ || (container_.logs && container_.logs->ended());
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
  bool has_ended() const {
    if (container_.pid == 0) return true;
    pollfd waiting = {process_.get(), POLLIN, 0};
    return ::poll(&waiting, 1, 0) > 0;
  }

  /// The engine notices an end a little later than the kernel.
  Result<ContainerState> final_state() {
    constexpr int kLooks = 100;
    for (int look = 0;; ++look) {
      auto state = engine_.inspect(container_.id);
      if (!state || (state->status != "running" && state->status != "stopping") || look == kLooks)
        return state;
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
    if (lost_daemon_) exit.detail += "; the container daemon had stopped or restarted before";
  }

  Engine engine_;
  StartedContainer container_;
  probes::AppTarget target_;
  Fd process_;
  std::unique_ptr<Orders> orders_;
  std::optional<Usage> usage_;
  uint64_t oom_kills_ = 0;
  bool lost_daemon_ = false;
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

Result<std::unique_ptr<RunningApp>> watch_container(const net::Endpoint& endpoint,
                                                    StartedContainer container) {
  const SysRoot root;
  probes::AppTarget target;
  target.cgroup =
      container.group ? container.group->paths(container.id) : container_groups(root, container.id);
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
  // Never the whole machine: an app that is gone has no processes but those of nobody.
  target.root = container.pid == 0 ? ::getpid() : container.pid;
  target.include_root = container.pid != 0;
  return std::make_unique<ContainerApp>(endpoint, std::move(container), std::move(target),
                                        std::move(process));
}

}  // namespace assay::launch
