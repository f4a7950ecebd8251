// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kubernetes/agent_client.h"
#include "kubernetes/job_calls.h"

#include <condition_variable>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <assay/base/mutex.h>
#include <assay/launch/jobs.h>

namespace assay::launch {

/// A Job whose pod has started.
struct StartedJob {
  JobSettings settings = {};
  kubeapi::ObjectName job = {};
  std::string selector = {};  ///< of its pod
  AgentPlace agent = {};
  JobPod pod = {};
  Request request = {};
  std::vector<std::string> beside = {};  ///< other sessions on its node when it started
};

/// What the thread that asks and the one that runs the session share.
struct JobShared {
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

/// Asks the agent about the app, and the API server about its pod, until the app has ended; stops
/// it when that is wanted. `run` is for a thread of its own; the job has to live longer.
class JobWatcher {
 public:
  JobWatcher(const StartedJob& job, std::shared_ptr<JobShared> shared, int exit_fd);

  void run(const std::stop_token& token);
  /// Ends what it waits for.
  net::Stopper& stopper() { return stopper_; }

 private:
  void wait(const std::stop_token& token);
  /// A cluster has no SIGINT: a deleted Job's pod gets SIGTERM, and after its grace SIGKILL. Said
  /// again until the server has heard it.
  void stop_app();
  /// Whether the agent knows that the app has ended.
  bool look_at_app();
  void look_at_pod();
  bool is_told_as_ended() const;
  /// A server that is away comes back, or the Job's deadline ends it; a right hardly does.
  void look_at_refusal(const Error& error);
  /// A node that is gone never tells of the end of its pods.
  void look_at_node();
  void look_at_end(const std::stop_token& token);
  void finish();

  const StartedJob& job_;
  std::shared_ptr<JobShared> shared_;
  const int exit_fd_;
  SystemClock clock_;
  kubeapi::Client client_;
  AgentClient agent_;
  net::Stopper stopper_;
  JobPod pod_;
  std::optional<std::chrono::steady_clock::time_point> gone_by_, refused_since_;
  bool stopping_ = false;
  bool deleted_ = false;
  bool to_kill_ = false;
  bool over_ = false;
};

}  // namespace assay::launch
