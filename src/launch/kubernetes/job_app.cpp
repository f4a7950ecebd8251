// SPDX-License-Identifier: Apache-2.0
#include "kubernetes/job_app.h"

#include "kubernetes/agent_series.h"
#include "kubernetes/pod_log.h"

#include <algorithm>
#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <assay/base/quiet_thread.h>

namespace assay::launch {
namespace {

constexpr Milliseconds kFirstLook{5000};
/// For an API server that is away when all is done.
constexpr Milliseconds kRemovePatience{10'000};

/// Gives on what the thread has brought.
class AgentProbe final : public probes::Probe {
 public:
  AgentProbe(std::shared_ptr<JobShared> shared, std::string who)
      : shared_(std::move(shared)), who_(who), series_(std::move(who)) {}

  std::string_view name() const override { return who_; }
  probes::Pace pace() const override { return probes::Pace::beat; }
  Result<void> open(SampleSink& /*sink*/) override { return {}; }
  Result<void> sample(const Clock& /*clock*/, SampleSink& sink) override {
    std::deque<AgentApp> readings;
    ClockOffset clock;
    {
      const Lock lock(shared_->mutex);
      readings.swap(shared_->readings);
      clock = shared_->clock;
    }
    for (const auto& reading : readings) series_.push(reading, clock, sink);
    return {};
  }

 private:
  std::shared_ptr<JobShared> shared_;
  std::string who_;
  AgentSeries series_;
};

class JobApp final : public RunningApp {
 public:
  JobApp(StartedJob job, Fd exit)
      : job_(std::move(job)),
        exit_(std::move(exit)),
        shared_(std::make_shared<JobShared>()),
        log_(job_.settings.access, {job_.job.name_space, job_.pod.name}, job_.request.stdout_file),
        watcher_(job_, shared_, exit_.get()),
        thread_(quiet_thread([this](const std::stop_token& token) { watcher_.run(token); })) {
    target_.root = ::getpid();  // nothing of this machine
    target_.include_root = false;
    beside_ = job_.beside;
  }
  JobApp(const JobApp&) = delete;
  JobApp& operator=(const JobApp&) = delete;
  ~JobApp() override {
    end_thread();
    if (!released_) remove();
  }

  /// Until the agent knows the app.
  void await_agent() {
    Lock lock(shared_->mutex);
    shared_->changed.wait_for(lock, kFirstLook, [&]() ASSAY_REQUIRES(shared_->mutex) {
      return shared_->looked || shared_->ended || shared_->missed > 2;
    });
  }

  const probes::AppTarget& target() const override { return target_; }
  probes::Probes remote_probes() override {
    probes::Probes all;
    all.push_back(std::make_unique<AgentProbe>(shared_, who()));
    return all;
  }
  std::optional<Elsewhere> elsewhere() const override {
    const Lock lock(shared_->mutex);
    return Elsewhere{job_.agent.node, who(), shared_->clock.offset(), shared_->clock.uncertainty()};
  }
  std::optional<Timestamp> started() const override {
    const Lock lock(shared_->mutex);
    if (shared_->started) return shared_->started;
    if (!job_.pod.started || !shared_->clock.known()) return std::nullopt;
    return shared_->clock.ours(*job_.pod.started);
  }
  std::optional<Timestamp> ended() const override {
    const Lock lock(shared_->mutex);
    if (!shared_->last || !shared_->clock.known()) return std::nullopt;
    if (!shared_->last->running && !shared_->last->lower_bound)
      return shared_->clock.ours(shared_->last->read);
    if (!shared_->ended || !shared_->ended->ended) return std::nullopt;
    return shared_->clock.ours(*shared_->ended->ended);
  }
  std::string isolation() const override { return "pod"; }
  std::vector<NotMeasured> notes() const override;
  int exit_fd() const override { return exit_.get(); }
  std::optional<Exit> exited() override {
    const Lock lock(shared_->mutex);
    if (!shared_->ended) return std::nullopt;
    return Exit{};
  }
  void stop(StopStep step) override {
    const Lock lock(shared_->mutex);
    stopped_ = true;
    shared_->step = step;
    shared_->changed.notify_all();
  }
  Exit release() override {
    released_ = true;
    end_thread();
    log_.finish();
    Exit exit = final_exit();
    look_who_else();
    remove();
    if (is_unseen()) exit.detail += left_behind_ ? "; it may still run" : "; its Job is deleted";
    return exit;
  }
  std::optional<Error> left_behind() const override { return left_behind_; }

 private:
  std::string who() const { return "agent on " + job_.agent.node; }

  void end_thread() {
    thread_.request_stop();
    {
      const Lock lock(shared_->mutex);
      if (!shared_->ended) watcher_.stopper().stop();
    }
    if (thread_.joinable()) thread_.join();
  }

  Exit final_exit() const;
  bool is_unseen() const {
    const Lock lock(shared_->mutex);
    return shared_->ended && shared_->ended->state == JobPod::State::unseen;
  }

  /// Sessions that came while this one's app ran.
  void look_who_else() {
    net::Stopper stopper;
    kubeapi::Client client(job_.settings.access);
    for (auto& session : other_sessions(client, job_.job.name_space, job_.agent.node,
                                        job_.request.session_id, stopper))
      if (std::find(beside_.begin(), beside_.end(), session) == beside_.end())
        beside_.push_back(std::move(session));
  }

  void remove() {
    kubeapi::Client client(job_.settings.access);
    left_behind_ = delete_job(client, job_.job, kRemovePatience);
  }

  const StartedJob job_;
  Fd exit_;
  std::shared_ptr<JobShared> shared_;
  probes::AppTarget target_;
  PodLog log_;
  std::vector<std::string> beside_;
  bool stopped_ = false;
  bool released_ = false;
  std::optional<Error> left_behind_;
  JobWatcher watcher_;
  std::jthread thread_;  // last: it uses all of the above
};

std::vector<NotMeasured> JobApp::notes() const {
  std::vector<NotMeasured> all = {
      {"node and power", fmt::format("the {} is asked about the app alone", who())}};
  if (job_.request.target.limits.pids)
    all.push_back({"limit of processes", "a cluster has none for single Jobs; it was not applied"});
  for (const auto& session : beside_)
    all.push_back({"device lock", fmt::format("session {} ran beside it on {} and may have "
                                              "disturbed it",
                                              session, job_.agent.node)});
  for (auto& note : log_.notes()) all.push_back(std::move(note));
  const Lock lock(shared_->mutex);
  if (!shared_->looked) {
    all.push_back({"app", shared_->trouble.empty()
                              ? fmt::format("the {} did not see its container", who())
                              : shared_->trouble});
  } else if (shared_->missed > 0) {
    all.push_back({"app", fmt::format("the {} did not answer {} times: {}", who(), shared_->missed,
                                      shared_->trouble)});
  }
  if (shared_->ended && shared_->last && (shared_->last->running || shared_->last->lower_bound))
    all.push_back(
        {"end of the app", fmt::format("the {} has not read its counters at its end, which "
                                       "may lack its last moment",
                                       who())});
  return all;
}

Exit JobApp::final_exit() const {
  const Lock lock(shared_->mutex);
  Exit exit;
  if (!shared_->ended) {
    exit.detail = "still running when it was given up; its Job is deleted";
  } else if (shared_->ended->state == JobPod::State::absent) {
    exit.detail = stopped_ ? "ended when asked to; its pod was gone before its exit code was read"
                           : "its pod was deleted, by somebody else or by the cluster (a node that "
                             "is drained or gone, a pod of more priority, the Job's deadline)";
  } else {
    exit = exit_of(*shared_->ended, job_.request.target.limits.memory_bytes);
  }
  if (shared_->last) add_used(*shared_->last, exit);
  return exit;
}

}  // namespace

Result<std::unique_ptr<RunningApp>> watch_job(StartedJob job) {
  Fd exit(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!exit.valid()) return refused_errno("cannot make a descriptor", errno);
  auto app = std::make_unique<JobApp>(std::move(job), std::move(exit));
  app->await_agent();
  return app;
}

}  // namespace assay::launch
