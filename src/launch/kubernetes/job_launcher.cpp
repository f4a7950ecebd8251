// SPDX-License-Identifier: Apache-2.0
#include "kubernetes/job_launcher.h"

#include "docker/container.h"
#include "kubernetes/job_app.h"
#include "kubernetes/job_manifest.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace assay::launch {
namespace {

using std::chrono::steady_clock;
using State = JobPod::State;

constexpr useconds_t kPause = 200'000;
/// After which the cluster's events are asked why there is no pod.
constexpr Milliseconds kPodPatience{2000};

/// A Job that was created, until somebody else takes care of it.
class CreatedJob {
 public:
  CreatedJob(kubeapi::Client& client, kubeapi::ObjectName name)
      : client_(client), name_(std::move(name)) {}
  CreatedJob(const CreatedJob&) = delete;
  CreatedJob& operator=(const CreatedJob&) = delete;
  ~CreatedJob() {
    net::Stopper stopper;
    if (!kept_)
      (void)!kubeapi::delete_object(client_, name_, kubeapi::Propagation::background, stopper);
  }
  const kubeapi::ObjectName& name() const { return name_; }
  void keep() { kept_ = true; }

 private:
  kubeapi::Client& client_;
  kubeapi::ObjectName name_;
  bool kept_ = false;
};

class JobLauncher final : public Launcher {
 public:
  JobLauncher(JobSettings settings, AgentPlace agent, Waiting waiting)
      : settings_(std::move(settings)),
        agent_(std::move(agent)),
        waiting_(std::move(waiting)),
        client_(settings_.access) {}

  std::string name() const override { return "kubernetes"; }

  Result<std::unique_ptr<RunningApp>> start(const Request& request) override {
    const Owner owner = Owner::self(SysRoot());
    const Json manifest = job_manifest(request, settings_, agent_.node, owner, machine_name(owner));
    ASSAY_TRY(const kubeapi::Written written,
              kubeapi::create_object(client_, kubeapi::jobs(), settings_.name_space,
                                     manifest.dump(), stopper_));
    if (written.outcome != kubeapi::Outcome::done)
      return refused(fmt::format("the cluster did not take the Job: {}", written.why));
    CreatedJob job(
        client_, {kubeapi::jobs(), settings_.name_space, written.object.name, written.object.uid});
    const std::string selector = job_selector(request.session_id, request.run);
    ASSAY_TRY(JobPod pod, await_pod(job.name(), selector, request.target));
    StartedJob started = {settings_, job.name(), selector, agent_, std::move(pod), request};
    job.keep();
    return watch_job(std::move(started));
  }

 private:
  Result<JobPod> await_pod(const kubeapi::ObjectName& job, const std::string& selector,
                           const Target& target) {
    const auto begin = steady_clock::now();
    for (;;) {
      ASSAY_TRY(JobPod pod, find_job_pod(client_, settings_.name_space, selector, stopper_));
      if (pod.state == State::running || pod.state == State::ended) return pod;
      if (pod.state == State::hopeless) return never_runs(pod, target);
      const auto waited = steady_clock::now() - begin;
      if (pod.state == State::absent && waited > kPodPatience) ASSAY_CHECK(look_at_events(job));
      const std::string what = what_is_awaited(pod);
      if (waited > settings_.start_patience)
        return refused(fmt::format("the app did not start on {} within {}: {}", agent_.node,
                                   format_duration(settings_.start_patience), what));
      if (waiting_ && !waiting_(fmt::format("{}: {}", agent_.node, what)))
        return refused("given up before the app had started");
      ::usleep(kPause);
    }
  }

  static std::string what_is_awaited(const JobPod& pod) {
    if (!pod.trouble.empty()) return pod.trouble;
    return pod.state == State::absent ? "the cluster has made no pod yet"
                                      : "the pod waits for its node";
  }

  Failure never_runs(const JobPod& pod, const Target& target) const {
    const bool by_app = pod.code.has_value();
    return fail(
        by_app ? ErrorKind::app : ErrorKind::environment,
        fmt::format("image {} cannot run on {}: {}", target.image, agent_.node, pod.trouble));
  }

  /// A quota, say, refuses pods and not their Job.
  Result<void> look_at_events(const kubeapi::ObjectName& job) {
    ASSAY_TRY(const net::Response response,
              client_.call({.path = fmt::format("/api/v1/namespaces/{}/events?fieldSelector={}",
                                                net::url_encoded(settings_.name_space),
                                                net::url_encoded("involvedObject.uid=" + job.uid))},
                           stopper_));
    const std::string why = response.ok() ? why_no_pod(response.body) : "";
    if (why.empty()) return {};
    return refused(fmt::format("the cluster makes no pod for the Job: {}", why));
  }

  const JobSettings settings_;
  const AgentPlace agent_;
  const Waiting waiting_;
  kubeapi::Client client_;
  net::Stopper stopper_;
};

}  // namespace

std::unique_ptr<Launcher> make_job_launcher(JobSettings settings, AgentPlace agent,
                                            Waiting waiting) {
  return std::make_unique<JobLauncher>(std::move(settings), std::move(agent), std::move(waiting));
}

}  // namespace assay::launch
