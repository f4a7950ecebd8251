// SPDX-License-Identifier: Apache-2.0
#include "kubernetes/job_app.h"

#include "kubernetes/agent_series.h"
#include "kubernetes/pod_log.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <assay/base/mutex.h>
#include <assay/base/quiet_thread.h>

namespace assay::launch {
namespace {

using std::chrono::steady_clock;

constexpr Milliseconds kPace{1000};
/// A pod that was told to end is gone soon after its end, with its exit code.
constexpr Milliseconds kPaceAtTheEnd{200};
constexpr Milliseconds kFirstLook{5000};
/// The agent sees a container's end, and reads it once more, within its own interval.
constexpr Milliseconds kLastLook{5000};

/// What the thread that asks and the one that runs the session share.
struct Shared {
  Mutex mutex;
  std::condition_variable_any changed;
  std::deque<AgentApp> readings ASSAY_GUARDED_BY(mutex);
  ClockOffset clock ASSAY_GUARDED_BY(mutex);
  std::optional<Timestamp> started ASSAY_GUARDED_BY(mutex);  ///< on our clock
  std::optional<AgentApp> last ASSAY_GUARDED_BY(mutex);
  std::optional<JobPod> ended ASSAY_GUARDED_BY(mutex);
  std::optional<StopStep> step ASSAY_GUARDED_BY(mutex);  ///< to be taken
  bool looked ASSAY_GUARDED_BY(mutex) = false;           ///< the agent has answered about the app
  std::string trouble ASSAY_GUARDED_BY(mutex);           ///< of the agent
  uint64_t missed ASSAY_GUARDED_BY(mutex) = 0;           ///< questions without an answer
};

/// Gives on what the thread has brought.
class AgentProbe final : public probes::Probe {
 public:
  AgentProbe(std::shared_ptr<Shared> shared, std::string who)
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
  std::shared_ptr<Shared> shared_;
  std::string who_;
  AgentSeries series_;
};

/// The thread that asks.
class Watcher {
 public:
  Watcher(const StartedJob& job, std::shared_ptr<Shared> shared, int exit_fd)
      : job_(job),
        shared_(std::move(shared)),
        exit_fd_(exit_fd),
        client_(job.settings.access),
        agent_(job.settings, job.agent, clock_),
        pod_(job.pod) {}

  void run(const std::stop_token& token) {
    while (!token.stop_requested() && !over_) {
      look_at_app();
      look_at_pod();
      if (!over_) wait(token);
    }
    if (over_) look_at_end(token);
    finish();
  }
  /// Ends what it waits for.
  net::Stopper& stopper() { return stopper_; }

 private:
  void wait(const std::stop_token& token) {
    std::optional<StopStep> step;
    {
      Lock lock(shared_->mutex);
      shared_->changed.wait_for(lock, token, stopping_ ? kPaceAtTheEnd : kPace,
                                [&] { return shared_->step.has_value(); });
      std::swap(step, shared_->step);
    }
    if (step) take(*step);
  }

  /// A cluster has no SIGINT: a deleted Job's pod gets SIGTERM, and after its grace SIGKILL.
  void take(StopStep step) {
    if (step == StopStep::kill) {
      (void)!client_.call(
          {.method = "DELETE",
           .path =
               fmt::format("{}/{}", kubeapi::collection_path(kubeapi::pods(), job_.job.name_space),
                           net::url_encoded(pod_.name)),
           .body = R"({"gracePeriodSeconds": 1})",
           .finish = true},
          stopper_);
    } else if (!stopping_) {
      (void)!kubeapi::delete_object(client_, job_.job, kubeapi::Propagation::background, stopper_);
    }
    stopping_ = true;
  }

  /// Whether the agent knows that the app has ended.
  bool look_at_app() {
    auto answer = agent_.ask(pod_.container_id, stopper_);
    const Lock lock(shared_->mutex);
    shared_->clock = agent_.offset();
    if (!answer) {
      ++shared_->missed;
      shared_->trouble = answer.error().message;
      shared_->changed.notify_all();
      return false;
    }
    if (!answer->app) return false;
    shared_->looked = true;
    shared_->started = shared_->clock.ours(answer->app->started);
    shared_->last = answer->app;
    shared_->readings.push_back(*answer->app);
    shared_->changed.notify_all();
    return !answer->app->running;
  }

  void look_at_pod() {
    auto pod = find_job_pod(client_, job_.job.name_space, job_.selector, stopper_);
    if (!pod) return;  // the API server comes back, or the Job's deadline ends it
    if (pod->state == JobPod::State::absent) {
      over_ = true;
      pod_.state = JobPod::State::absent;
      return;
    }
    if (pod->container_id.empty()) pod->container_id = pod_.container_id;
    pod_ = std::move(*pod);
    over_ = pod_.state == JobPod::State::ended || pod_.state == JobPod::State::hopeless;
  }

  void look_at_end(const std::stop_token& token) {
    const auto give_up = steady_clock::now() + kLastLook;
    while (!look_at_app() && !token.stop_requested() && steady_clock::now() < give_up)
      ::usleep(100'000);
  }

  void finish() {
    {
      const Lock lock(shared_->mutex);
      shared_->ended = pod_;
      shared_->changed.notify_all();
    }
    (void)!::eventfd_write(exit_fd_, 1);
  }

  const StartedJob& job_;
  std::shared_ptr<Shared> shared_;
  const int exit_fd_;
  SystemClock clock_;
  kubeapi::Client client_;
  AgentClient agent_;
  net::Stopper stopper_;
  JobPod pod_;
  bool stopping_ = false;
  bool over_ = false;
};

class JobApp final : public RunningApp {
 public:
  JobApp(StartedJob job, Fd exit)
      : job_(std::move(job)),
        exit_(std::move(exit)),
        shared_(std::make_shared<Shared>()),
        log_(job_.settings.access, {job_.job.name_space, job_.pod.name}, job_.request.stdout_file),
        watcher_(job_, shared_, exit_.get()),
        thread_(quiet_thread([this](const std::stop_token& token) { watcher_.run(token); })) {
    target_.root = ::getpid();  // nothing of this machine
    target_.include_root = false;
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
    shared_->changed.wait_for(
        lock, kFirstLook, [&] { return shared_->looked || shared_->ended || shared_->missed > 2; });
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
    remove();
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

  void remove() {
    kubeapi::Client client(job_.settings.access);
    net::Stopper stopper;
    const auto deleted =
        kubeapi::delete_object(client, job_.job, kubeapi::Propagation::background, stopper);
    const bool gone = deleted && (deleted->outcome == kubeapi::Outcome::done ||
                                  deleted->outcome == kubeapi::Outcome::gone);
    if (gone) return;
    left_behind_ =
        Error{ErrorKind::environment,
              fmt::format("Job {} could not be deleted: {}; `assay cleanup` does it later",
                          job_.job.name, deleted ? deleted->why : deleted.error().message)};
  }

  const StartedJob job_;
  Fd exit_;
  std::shared_ptr<Shared> shared_;
  probes::AppTarget target_;
  PodLog log_;
  bool stopped_ = false;
  bool released_ = false;
  std::optional<Error> left_behind_;
  Watcher watcher_;
  std::jthread thread_;  // last: it uses all of the above
};

std::vector<NotMeasured> JobApp::notes() const {
  std::vector<NotMeasured> all = {
      {"node and power", fmt::format("the {} is asked about the app alone", who())}};
  if (job_.request.target.limits.pids)
    all.push_back({"limit of processes", "a cluster has none for single Jobs; it was not applied"});
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
                           : "somebody else deleted its pod";
  } else {
    exit = exit_of(*shared_->ended, job_.request.target.limits.memory_bytes);
  }
  if (!shared_->last) return exit;
  const auto total = [&](const char* name) -> std::optional<double> {
    const auto found = shared_->last->totals.find(name);
    return found == shared_->last->totals.end() ? std::nullopt : std::optional(found->second);
  };
  exit.user_seconds = total("cpu_user_seconds_total");
  exit.system_seconds = total("cpu_system_seconds_total");
  exit.oom_killed = exit.oom_killed || total("oom_kills").value_or(0) > 0;
  return exit;
}

}  // namespace

Result<JobPod> find_job_pod(kubeapi::Client& client, const std::string& name_space,
                            const std::string& selector, net::Stopper& stopper) {
  ASSAY_TRY(const net::Response response,
            client.call({.path = fmt::format("{}?labelSelector={}",
                                             kubeapi::collection_path(kubeapi::pods(), name_space),
                                             net::url_encoded(selector))},
                        stopper));
  if (response.status == 403)
    return refused(fmt::format("your account may not list pods in namespace {}", name_space));
  if (!response.ok())
    return refused(fmt::format("the API server answers with status {}", response.status));
  return read_job_pod(response.body);
}

Result<std::unique_ptr<RunningApp>> watch_job(StartedJob job) {
  Fd exit(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!exit.valid()) return refused_errno("cannot make a descriptor", errno);
  auto app = std::make_unique<JobApp>(std::move(job), std::move(exit));
  app->await_agent();
  return app;
}

}  // namespace assay::launch
