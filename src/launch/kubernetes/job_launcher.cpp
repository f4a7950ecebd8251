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
constexpr const char* kGivenUp = "given up before the app had started";
/// After which the cluster's events are asked why there is no pod.
constexpr Milliseconds kPodPatience{2000};

/// For an API server that is away when a start has failed.
constexpr Milliseconds kRemovePatience{5000};

class JobLauncher final : public Launcher {
 public:
  JobLauncher(JobSettings settings, AgentPlace agent, Waiting waiting)
      : settings_(std::move(settings)),
        agent_(std::move(agent)),
        waiting_(std::move(waiting)),
        what_(agent_.node + ": a Job is made for it"),
        client_(settings_.access) {
    if (waiting_) client_.set_wanted([this] { return waiting_(what_); });
  }

  std::string name() const override { return "kubernetes"; }

  Result<std::unique_ptr<RunningApp>> start(const Request& request) override {
    const Owner owner = Owner::self(SysRoot());
    const Json manifest =
        job_manifest(request, settings_, agent_.node, owner, machine_name(SysRoot(), owner));
    kubeapi::ObjectName job = {kubeapi::jobs(), settings_.name_space,
                               job_name(request.session_id, request.run), ""};
    const auto written =
        kubeapi::create_object(client_, job.resource, job.name_space, manifest.dump(), stopper_);
    if (!written) return perhaps_made(job, written.error());
    // The name is this session's: a request that was sent twice has made it.
    if (written->outcome == kubeapi::Outcome::taken)
      return removed(job, Error{ErrorKind::environment, written->why});
    if (written->outcome != kubeapi::Outcome::done)
      return refused(fmt::format("the cluster did not take the Job: {}", written->why));
    job.uid = written->object.uid;
    const std::string selector = job_selector(request.session_id, request.run);
    auto pod = await_pod(job, selector, request.target);
    if (!pod) return removed(job, pod.error());
    auto beside =
        other_sessions(client_, job.name_space, agent_.node, request.session_id, stopper_);
    return watch_job(
        {settings_, job, selector, agent_, std::move(*pod), request, std::move(beside)});
  }

 private:
  /// Nothing stays of a start that failed, or it is told.
  Failure removed(const kubeapi::ObjectName& job, Error error) {
    if (const auto left = delete_job(client_, job, kRemovePatience))
      error.message += "; " + left->message;
    return fail(std::move(error));
  }

  /// An answer that broke off does not tell whether there is a Job now.
  Failure perhaps_made(const kubeapi::ObjectName& job, Error error) {
    if (error.temporary && delete_job(client_, job, kRemovePatience))
      error.message += fmt::format(
          "; whether there is a Job {} now is not known: `assay cleanup` deletes it", job.name);
    return fail(std::move(error));
  }

  Result<JobPod> await_pod(const kubeapi::ObjectName& job, const std::string& selector,
                           const Target& target) {
    const auto begin = steady_clock::now();
    for (;;) {
      auto pod = find_job_pod(client_, settings_.name_space, selector, "", stopper_);
      const auto waited = steady_clock::now() - begin;
      if (pod) {
        if (pod->state == State::running || pod->state == State::ended) return pod;
        if (pod->state == State::hopeless) return never_runs(*pod, target);
        if (pod->state == State::absent && waited > kPodPatience) ASSAY_CHECK(look_at_events(job));
      } else if (!pod.error().temporary) {
        return given_up_or(pod.error());
      }
      const std::string what = pod ? what_is_awaited(*pod) : pod.error().message;
      if (waited > settings_.start_patience)
        return refused(fmt::format("the app did not start on {} within {}: {}", agent_.node,
                                   format_duration(settings_.start_patience), what));
      what_ = fmt::format("{}: {}", agent_.node, what);
      if (waiting_ && !waiting_(what_)) return refused(kGivenUp);
      ::usleep(kPause);
    }
  }

  /// A question that was cut short by the user fails too.
  Failure given_up_or(const Error& error) const {
    return waiting_ && !waiting_(what_) ? refused(kGivenUp) : fail(error);
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
    const auto response =
        client_.call({.path = fmt::format("/api/v1/namespaces/{}/events?fieldSelector={}",
                                          net::url_encoded(settings_.name_space),
                                          net::url_encoded("involvedObject.uid=" + job.uid))},
                     stopper_);
    const std::string why = response && response->ok() ? why_no_pod(response->body) : "";
    if (why.empty()) return {};
    return refused(fmt::format("the cluster makes no pod for the Job: {}", why));
  }

  const JobSettings settings_;
  const AgentPlace agent_;
  const Waiting waiting_;
  std::string what_;  ///< is waited for
  kubeapi::Client client_;
  net::Stopper stopper_;
};

}  // namespace

std::unique_ptr<Launcher> make_job_launcher(JobSettings settings, AgentPlace agent,
                                            Waiting waiting) {
  return std::make_unique<JobLauncher>(std::move(settings), std::move(agent), std::move(waiting));
}

}  // namespace assay::launch
