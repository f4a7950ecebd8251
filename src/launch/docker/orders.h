// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "docker/engine.h"

#include <atomic>
#include <condition_variable>
#include <optional>
#include <string>
#include <thread>

#include <assay/base/mutex.h>
#include <assay/launch/launcher.h>

namespace assay::launch {

/// Gives the engine orders about one container without making the run wait for it. Destroying it
/// waits for the order that is on its way.
class Orders {
 public:
  /// `process` is a descriptor of the container's first process and stays open for as long.
  Orders(const net::Endpoint& endpoint, std::string id, int process);
  Orders(const Orders&) = delete;
  Orders& operator=(const Orders&) = delete;
  ~Orders();

  void stop(StopStep step);
  bool was_paused() const { return was_paused_; }
  /// The engine did not answer, or would not; the app was signalled without it.
  bool was_deaf() const { return was_deaf_; }

 private:
  std::optional<StopStep> next();
  void obey(StopStep step);

  Engine engine_;
  const std::string id_;
  const int process_;
  std::atomic<bool> was_paused_ = false;
  std::atomic<bool> was_deaf_ = false;
  Mutex mutex_;
  std::condition_variable_any changed_;
  std::optional<StopStep> step_ ASSAY_GUARDED_BY(mutex_);
  bool over_ ASSAY_GUARDED_BY(mutex_) = false;
  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace assay::launch
