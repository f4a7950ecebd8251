// SPDX-License-Identifier: Apache-2.0
#include "kubernetes/job_watcher.h"

#include <sys/eventfd.h>
#include <unistd.h>

namespace assay::launch {
namespace {

using std::chrono::steady_clock;

constexpr Milliseconds kPace{1000};
/// A pod that was told to end is gone soon after its end, with its exit code.
constexpr Milliseconds kPaceAtTheEnd{200};
/// The agent sees a container's end, and reads it once more, within its own interval.
constexpr Milliseconds kLastLook{5000};
/// For a node to end a pod, beyond the pod's grace.
constexpr Milliseconds kNodePatience{30'000};

}  // namespace

JobWatcher::JobWatcher(const StartedJob& job, std::shared_ptr<JobShared> shared, int exit_fd)
    : job_(job),
      shared_(std::move(shared)),
      exit_fd_(exit_fd),
      client_(job.settings.access),
      agent_(job.settings, job.agent, clock_),
      pod_(job.pod) {}

void JobWatcher::run(const std::stop_token& token) {
  while (!token.stop_requested() && !over_) {
    look_at_app();
    look_at_pod();
    if (!over_) wait(token);
  }
  if (!over_) return;
  if (pod_.state != JobPod::State::unseen) look_at_end(token);
  finish();
}

void JobWatcher::wait(const std::stop_token& token) {
  std::optional<StopStep> step;
  {
    Lock lock(shared_->mutex);
    shared_->changed.wait_for(
        lock, token, stopping_ ? kPaceAtTheEnd : kPace,
        [&]() ASSAY_REQUIRES(shared_->mutex) { return shared_->step.has_value(); });
    std::swap(step, shared_->step);
  }
  stopping_ = stopping_ || step;
  to_kill_ = to_kill_ || step == StopStep::kill;
  if (stopping_) stop_app();
}

void JobWatcher::stop_app() {
  if (!deleted_) deleted_ = !delete_job(client_, job_.job, Milliseconds(0));
  if (to_kill_) to_kill_ = !kill_pod(client_, {job_.job.name_space, pod_.name}, stopper_);
}

bool JobWatcher::look_at_app() {
  auto answer = agent_.ask(pod_.container_id, stopper_);
  if (stopper_.stopped()) return false;
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

void JobWatcher::look_at_pod() {
  auto pod = find_job_pod(client_, job_.job.name_space, job_.selector, pod_.name, stopper_);
  if (!pod) {
    look_at_refusal(pod.error());
    return;
  }
  refused_since_.reset();
  if (pod->state == JobPod::State::absent) {
    over_ = true;
    pod_.state = JobPod::State::absent;
    return;
  }
  if (pod->container_id.empty()) pod->container_id = pod_.container_id;
  pod_ = std::move(*pod);
  over_ = pod_.state == JobPod::State::ended || pod_.state == JobPod::State::hopeless;
  if (pod_.deleted && !over_) look_at_node();
}

void JobWatcher::look_at_refusal(const Error& error) {
  if (error.temporary) {
    refused_since_.reset();
    return;
  }
  const auto now = steady_clock::now();
  if (!refused_since_) refused_since_ = now;
  if (now - *refused_since_ < job_.settings.refusal_patience) return;
  over_ = true;
  pod_.state = is_told_as_ended() ? JobPod::State::ended : JobPod::State::unseen;
  pod_.trouble = error.message;
}

bool JobWatcher::is_told_as_ended() const {
  const Lock lock(shared_->mutex);
  return shared_->last && !shared_->last->running;
}

void JobWatcher::look_at_node() {
  const auto now = steady_clock::now();
  if (!gone_by_) gone_by_ = now + job_.request.target.grace + kNodePatience;
  if (now < *gone_by_) return;
  over_ = true;
  pod_.state = JobPod::State::ended;
  pod_.trouble = "its pod is deleted, and its node does not answer";
}

void JobWatcher::look_at_end(const std::stop_token& token) {
  const auto give_up = steady_clock::now() + kLastLook;
  while (!look_at_app() && !token.stop_requested() && steady_clock::now() < give_up)
    ::usleep(100'000);
}

void JobWatcher::finish() {
  {
    const Lock lock(shared_->mutex);
    shared_->ended = pod_;
    shared_->changed.notify_all();
  }
  (void)!::eventfd_write(exit_fd_, 1);
}

}  // namespace assay::launch
