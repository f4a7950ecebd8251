// SPDX-License-Identifier: Apache-2.0
#include "process/app_child.h"
#include "process/cgroup.h"
#include "process/cgroup_places.h"
#include "process/cleanup.h"
#include "process/exit_text.h"
#include "process/keeper_client.h"
#include "process/owner.h"

#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <unistd.h>
#include <utility>

#include <assay/launch/launcher.h>

namespace assay::launch {
namespace fs = std::filesystem;
namespace {

std::string run_mark(const Request& request) {
  return fmt::format("{}/{}", request.session_id, request.run);
}

std::vector<std::string> app_environment(const Request& request, const Owner& owner) {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    variables[std::string(text.substr(0, equals))] = std::string(text.substr(equals + 1));
  }
  for (const auto& variable : request.target.env) variables[variable.first] = variable.second;
  if (!request.socket.empty()) variables["ASSAY_SOCKET"] = fs::absolute(request.socket).native();
  const auto tell = [&](const char* name, const fs::path& path) {
    if (!path.empty()) variables.try_emplace(name, fs::absolute(path).native());
  };
  tell("ASSAY_DATASET", request.dataset);
  tell("WAGGLE_DATA_CONFIG_PATH", request.data_config);
  tell("PYWAGGLE_LOG_DIR", request.published);
  variables[std::string(kRunVariable)] = run_mark(request);
  variables[std::string(kOwnerVariable)] = owner.text();
  std::vector<std::string> env;
  env.reserve(variables.size());
  for (const auto& variable : variables) env.push_back(variable.first + "=" + variable.second);
  return env;
}

std::string absolute_or_empty(const fs::path& path) {
  return path.empty() ? std::string() : fs::absolute(path).native();
}

class KeptApp final : public RunningApp {
 public:
  KeptApp(KeeperClient keeper, std::optional<Cgroup> group, std::vector<NotMeasured> notes,
          StartOrder order, const Request& request, const Owner& owner)
      : keeper_(std::move(keeper)),
        group_(std::move(group)),
        notes_(std::move(notes)),
        order_(std::move(order)),
        run_(run_mark(request)),
        owner_(owner),
        memory_limit_(request.target.limits.memory_bytes) {
    if (group_) target_.cgroup = group_->paths();
    target_.root = keeper_.pid();
    target_.include_root = false;
  }
  KeptApp(const KeptApp&) = delete;
  KeptApp& operator=(const KeptApp&) = delete;
  ~KeptApp() override {
    if (released_) return;
    if (!keeper_.abandon()) kill_what_keeper_left();
    group_.reset();  // after the keeper: a group with processes in it cannot be removed
  }

  Result<void> begin() override {
    ASSAY_TRY(const Report report, keeper_.start(order_));
    if (report.kind != ReportKind::started)
      return start_failure(order_, report.stage, report.error);
    return {};
  }

  const probes::AppTarget& target() const override { return target_; }
  std::string isolation() const override {
    if (!group_) return "process tree";
    return group_->unified() ? "cgroup v2" : "cgroup v1";
  }
  std::vector<NotMeasured> notes() const override { return notes_; }
  int exit_fd() const override { return keeper_.fd(); }

  std::optional<Exit> exited() override {
    if (exit_) return exit_;
    const auto received = keeper_.poll();
    if (received.message && received.message->kind == ReportKind::ended) {
      set_exit(received.message->how, received.message->status);
    } else if (received.closed) {
      set_exit(0, 0);
    }
    return exit_;
  }

  void stop(StopStep step) override {
    if (!released_) keeper_.stop(step);
  }

  Exit release() override {
    if (released_) return *exit_;
    const std::optional<uint64_t> oom = oom_kills();
    const auto refused = group_ ? launch::forks_refused(SysRoot(), group_->paths()) : std::nullopt;
    const auto report = keeper_.release();
    if (!exit_) set_exit(report ? report->how : 0, report ? report->status : 0, oom);
    released_ = true;
    exit_->forks_refused = refused.value_or(0);
    if (report) {
      exit_->user_seconds = report->user_seconds;
      exit_->system_seconds = report->system_seconds;
      if (report->max_rss_bytes > 0) exit_->max_rss_bytes = report->max_rss_bytes;
      if (report->left != 0) exit_->detail += "; some of its processes could not be ended";
    } else {
      kill_what_keeper_left();
    }
    group_.reset();
    return *exit_;
  }

 private:
  std::optional<uint64_t> oom_kills() const {
    return group_ ? launch::oom_kills(SysRoot(), group_->paths()) : std::nullopt;
  }

  void set_exit(int how, int status) { set_exit(how, status, oom_kills()); }

  void set_exit(int how, int status, std::optional<uint64_t> oom) {
    Exit exit;
    set_status(exit, how, status);
    exit.oom_killed = oom.value_or(0) > 0;
    exit.detail = exit_detail(exit, memory_limit_);
    exit_ = std::move(exit);
  }

  /// For a keeper that was killed: finds the tree by group and by mark instead.
  void kill_what_keeper_left() {
    if (group_) {
      for (const auto& folder : group_->folders()) kill_group(folder);
    }
    kill_marked([&](const Mark& mark) { return mark.owner == owner_ && mark.run == run_; });
  }

  KeeperClient keeper_;
  std::optional<Cgroup> group_;
  std::vector<NotMeasured> notes_;
  StartOrder order_;
  std::string run_;
  Owner owner_;
  std::optional<uint64_t> memory_limit_;
  probes::AppTarget target_;
  std::optional<Exit> exit_;
  bool released_ = false;
};

Failure no_limits(const Limits& limits, const std::string& reason) {
  return refused(fmt::format(
      "cannot run under the limits asked for ({}): {}; run as root or below a control group that "
      "is yours (systemd-run --user --scope -p Delegate=yes assay ...), or drop the limits",
      describe(limits), reason));
}

class ProcessLauncher final : public Launcher {
 public:
  explicit ProcessLauncher(const SysRoot& root) : root_(root) {}
  std::string name() const override { return "process"; }

  Result<std::unique_ptr<RunningApp>> start(const Request& request) override {
    if (request.target.command.empty()) return bad_input("there is no command to run");
    const Owner owner = Owner::self(SysRoot());
    if (owner.start_ticks == 0)
      return refused("cannot read our own /proc/PID/stat: is /proc mounted?");
    std::vector<NotMeasured> notes;
    ASSAY_TRY(std::optional<Cgroup> group, make_group(request, owner, notes));
    ASSAY_TRY(KeeperClient keeper, KeeperClient::spawn());
    StartOrder order = make_order(request, owner, group);
    return std::make_unique<KeptApp>(std::move(keeper), std::move(group), std::move(notes),
                                     std::move(order), request, owner);
  }

 private:
  /// No group is fine, with a note, unless limits hang on it: a run under other limits than those
  /// asked for would be worthless.
  Result<std::optional<Cgroup>> make_group(const Request& request, const Owner& owner,
                                           std::vector<NotMeasured>& notes) {
    const Limits& limits = request.target.limits;
    if (!request.own_cgroup && limits.empty()) {
      notes.push_back({"own control group", "not wanted; measured by its process tree instead"});
      return std::optional<Cgroup>();
    }
    auto group = Cgroup::make(root_, find_cgroup_places(root_),
                              group_name(request.session_id, request.run, owner), limits);
    if (group && !group->unified() && limits.empty() && !is_joinable(owner))
      group = fail(*cannot_join_);
    if (group) {
      notes = group->notes();
      return std::optional<Cgroup>(std::move(*group));
    }
    if (!limits.empty()) {
      return no_limits(limits, group.error().message);
    }
    notes.push_back({"own control group",
                     group.error().message +
                         "; measured by its process tree instead (run as root to have one)"});
    return std::optional<Cgroup>();
  }

  /// v1 may let nobody in whom it let make a group (one of real-time priority). Tried once, in a
  /// group that is not an app's: what it counts should be the app's alone.
  bool is_joinable(const Owner& owner) {
    if (tried_) return !cannot_join_;
    tried_ = true;
    const auto trial =
        Cgroup::make(root_, find_cgroup_places(root_), group_name("trial", 0, owner), {});
    const int error = trial ? try_to_join(trial->folders(), trial->unified()) : 0;
    if (error != 0)
      cannot_join_ = refused_errno("cannot move a process into a control group", error).value();
    return error == 0;
  }

  static StartOrder make_order(const Request& request, const Owner& owner,
                               const std::optional<Cgroup>& group) {
    StartOrder order;
    order.argv = request.target.command;
    order.env = app_environment(request, owner);
    order.workdir = absolute_or_empty(request.target.workdir);
    order.stdout_file = absolute_or_empty(request.stdout_file);
    order.stderr_file = absolute_or_empty(request.stderr_file);
    order.unified = group && group->unified();
    if (group) order.cgroups = group->folders();
    return order;
  }

  SysRoot root_;
  bool tried_ = false;
  std::optional<Error> cannot_join_;
};

}  // namespace

Result<void> try_limits(const Limits& limits, const SysRoot& root) {
  if (limits.empty()) return {};
  const Owner owner = Owner::self(SysRoot());
  const auto group =
      Cgroup::make(root, find_cgroup_places(root), group_name("trial", 0, owner), limits);
  if (!group) return no_limits(limits, group.error().message);
  return {};
}

std::unique_ptr<Launcher> make_process_launcher(const SysRoot& root) {
  return std::make_unique<ProcessLauncher>(root);
}

}  // namespace assay::launch
