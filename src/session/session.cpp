// SPDX-License-Identifier: Apache-2.0
#include "remote_interval.h"
#include "run.h"
#include "supplies.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <assay/launch/jobs.h>
#include <assay/launch/launcher.h>
#include <assay/probes/probe.h>
#include <assay/session/device_lock.h>
#include <assay/session/new_session.h>
#include <assay/session/session.h>

namespace assay::session {
namespace {

namespace fs = std::filesystem;

/// What is left of the time to watch and shorter than this would tell nothing.
constexpr auto kShortestLife = Milliseconds(500);

/// Everything that both ways into a session share.
class Session {
 public:
  Session(const Spec& spec, const Options& options, Listener& listener)
      : spec_(spec), options_(options), listener_(listener) {}

  /// Watches what is attached to over the container's restarts: each life is a run.
  void watch_lives_of(std::string container) { watched_ = std::move(container); }

  Result<Outcome> run(const Plan& plan, const Start& start, bool attached) {
    ASSAY_TRY(store_, store::open_sqlite(options_.store_file));
    jobs_ = plan.jobs.get();
    if (jobs_ == nullptr) ASSAY_CHECK(take_device());  // else it is another one
    for (const auto& line : recover(*store_)) listener_.note(line);
    containers_ = plan.containers.get();
    if (jobs_ != nullptr) clean_up_jobs();
    if (!attached && jobs_ == nullptr) ASSAY_CHECK(get_all_supplies());
    ASSAY_TRY(record_,
              add_session(*store_,
                          {.app = spec_.app,
                           .device = jobs_ ? jobs_->device() : probes::read_device(SysRoot()),
                           .labels = options_.labels,
                           .sessions_folder = options_.sessions_folder,
                           .planned_runs = static_cast<int>(plan.runs.size())},
                          clock_));
    listener_.session_started(record_, static_cast<int>(plan.runs.size()));
    for (const auto& planned : plan.runs) {
      outcome_.interrupted = outcome_.interrupted || interrupt_waits(options_.interrupt_fd);
      if (outcome_.interrupted || outcome_.trouble) break;
      run_planned(planned, static_cast<int>(plan.runs.size()), start, attached);
    }
    if (attached && !watched_.empty()) watch_next_lives(start);
    if (all_refused()) return take_back();
    return finish();
  }

 private:
  /// Until this session has ended, no other one disturbs its numbers.
  Result<void> take_device() {
    if (!options_.lock) {
      lock_note_ = "--no-lock: another session may have run beside this one and disturbed it";
      return {};
    }
    LockWait wait = {options_.wait, {}, options_.interrupt_fd};
    wait.on_wait = [this](const std::string& holder) {
      listener_.note(fmt::format("this device is in use by {}; waiting for it to end", holder));
    };
    ASSAY_TRY(auto lock, DeviceLock::acquire(spec_.app.full_name(), wait));
    lock_note_ = lock.note();
    lock_.emplace(std::move(lock));
    return {};
  }

  void clean_up_jobs() {
    const auto lines = jobs_->clean_up();
    for (const auto& line : lines.value_or(std::vector<std::string>())) listener_.note(line);
    if (!lines) listener_.note(lines.error().message);
    listener_.note(fmt::format("Jobs run on {} in {}", jobs_->node(), jobs_->engine()));
  }

  Result<void> get_all_supplies() {
    if (containers_ != nullptr) {
      const auto lines = containers_->clean_up();
      for (const auto& line : lines.value_or(std::vector<std::string>())) listener_.note(line);
      if (!lines) listener_.note(lines.error().message);
      listener_.note(fmt::format("images run in {}", containers_->engine()));
    }
    for (const auto& target : spec_.targets) {
      ASSAY_TRY(auto supplies, get_supplies(target, containers_, options_, listener_));
      supplies_.push_back(std::move(supplies));
    }
    return {};
  }

  bool all_refused() const {
    return !record_.runs.empty() && std::all_of(record_.runs.begin(), record_.runs.end(),
                                                [](const RunRecord& r) { return r.exit.refused; });
  }

  /// Nothing has run: the session leaves no trace but its error.
  Result<Outcome> take_back() {
    (void)store_->remove(record_.id);
    std::error_code ignored;
    fs::remove_all(record_.folder, ignored);
    return refused(record_.runs.front().exit.detail);
  }

  void watch_next_lives(const Start& start) {
    const Timestamp end = record_.runs.front().started + spec_.targets.front().timeout;
    for (int life = 1; !outcome_.interrupted && !outcome_.trouble; ++life) {
      const auto left = [&] { return end - clock_.now(); };
      if (left() < kShortestLife || !containers_->runs_again(watched_, left())) return;
      if (left() < kShortestLife) return;
      listener_.note(fmt::format("container {} runs again", watched_));
      Target target = spec_.targets.front();
      target.timeout = left();
      run_target({0, life}, target, life + 1, start, true);
      if (record_.runs.back().exit.refused) return;
    }
  }

  void run_planned(const PlannedRun& planned, int runs, const Start& start, bool attached) {
    run_target(planned, spec_.targets[static_cast<size_t>(planned.target_index)], runs, start,
               attached);
  }

  void run_target(const PlannedRun& planned, const Target& target, int runs, const Start& start,
                  bool attached) {
    RunRecord run;
    run.ordinal = static_cast<int>(record_.runs.size()) + 1;
    run.target_index = planned.target_index;
    run.repeat_index = planned.repeat_index;
    run.target = masked(target);
    run.runtime = containers_ != nullptr && !target.image.empty() ? "docker" : "process";
    if (jobs_ != nullptr) run.runtime = "kubernetes";
    RunContext context{options_, listener_, *store_, clock_, record_.id, record_.folder, runs};
    context.containers = containers_;
    context.jobs = jobs_;
    context.lock_note = lock_note_;
    if (!supplies_.empty())
      context.supplies = &supplies_[static_cast<size_t>(planned.target_index)];
    const RunEnd end = run_one(context, target, start, attached, run);
    record_.runs.push_back(run);
    outcome_.interrupted = outcome_.interrupted || end.interrupted;
    outcome_.trouble = end.trouble;
    if (!run.exit.refused) tell_end();
  }

  void tell_end() {
    const RunRecord& run = record_.runs.back();
    std::string answer = run.exit.detail;
    if (const auto samples = store_->samples(record_.id, run.ordinal)) {
      if (const auto analysed = analysis::analyze_run(run, record_.device, **samples)) {
        answer = analysed->answer;
      }
    }
    listener_.run_ended(run, answer);
  }

  Result<Outcome> finish() {
    ASSAY_TRY(outcome_.view, load_view(*store_, record_.id));
    // What the disk refused is still known here: the record in hand is newer than the stored one.
    for (size_t i = 0; i < outcome_.view.session.runs.size() && i < record_.runs.size(); ++i) {
      outcome_.view.session.runs[i] = record_.runs[i];
    }
    auto written = write_documents(outcome_.view, record_.folder);
    if (written)
      written = store_->export_session(record_.id, fs::path(record_.folder) / "session.assay");
    if (!written && !outcome_.trouble) outcome_.trouble = written.error();
    return std::move(outcome_);
  }

  const Spec& spec_;
  const Options& options_;
  Listener& listener_;
  SystemClock clock_;
  std::optional<DeviceLock> lock_;
  std::string lock_note_;  ///< why the device may not be ours alone
  std::unique_ptr<store::Store> store_;
  launch::Containers* containers_ = nullptr;
  launch::Jobs* jobs_ = nullptr;
  std::string watched_;             ///< the container that is attached to
  std::vector<Supplies> supplies_;  ///< by target
  SessionRecord record_;
  Outcome outcome_;
};

}  // namespace

namespace {

/// A daemon that hangs must not keep a user who interrupts.
void give_up_when_interrupted(launch::Containers& containers, const Options& options) {
  containers.while_wanted([fd = options.interrupt_fd] { return !interrupt_waits(fd); });
}

}  // namespace

namespace {

Result<Outcome> run_jobs(Spec spec, const Plan& plan, const Options& options, Listener& listener) {
  for (auto& target : spec.targets) target.interval = remote_interval(target.interval);
  plan.jobs->while_wanted([&](const std::string& what) {
    listener.progress(masked_text(what), 0, 0);
    return !interrupt_waits(options.interrupt_fd);
  });
  const auto launcher = plan.jobs->launcher();
  const auto start = [&](const launch::Request& request) { return launcher->start(request); };
  return Session(spec, options, listener).run(plan, start, false);
}

}  // namespace

Result<Outcome> run_session(const Spec& spec, const Plan& plan, const Options& options,
                            Listener& listener) {
  if (plan.jobs) return run_jobs(spec, plan, options, listener);
  const auto process = launch::make_process_launcher();
  if (plan.containers) give_up_when_interrupted(*plan.containers, options);
  const auto container = plan.containers ? plan.containers->launcher() : nullptr;
  const auto start = [&](const launch::Request& request) {
    const bool contained = container != nullptr && !request.target.image.empty();
    return (contained ? *container : *process).start(request);
  };
  return Session(spec, options, listener).run(plan, start, false);
}

namespace {

Result<Outcome> watch_session(const Start& attach, Nanoseconds duration, const Spec& spec,
                              const Options& options, Listener& listener,
                              std::shared_ptr<launch::Containers> containers = nullptr,
                              const std::string& container = "") {
  Spec watching = spec;
  for (auto& target : watching.targets) target.timeout = duration;
  Plan plan;
  plan.runs.push_back({});
  plan.containers = std::move(containers);
  // Asked once before anything is stored, so that a wrong pid leaves no trace.
  ASSAY_CHECK(attach({}));
  Session session(watching, options, listener);
  session.watch_lives_of(container);
  return session.run(plan, attach, true);
}

}  // namespace

Result<Outcome> attach_session(pid_t pid, Nanoseconds duration, const Spec& spec,
                               const Options& options, Listener& listener) {
  const auto attach = [pid](const launch::Request&) { return launch::attach(pid); };
  return watch_session(attach, duration, spec, options, listener);
}

Result<Outcome> attach_session(const std::string& container, Nanoseconds duration, const Spec& spec,
                               const Options& options, Listener& listener) {
  ASSAY_TRY(std::shared_ptr<launch::Containers> containers, launch::find_containers());
  give_up_when_interrupted(*containers, options);
  const auto attach = [&](const launch::Request&) { return containers->attach(container); };
  return watch_session(attach, duration, spec, options, listener, containers, container);
}

}  // namespace assay::session
