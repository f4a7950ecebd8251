// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "docker/engine.h"

#include <atomic>
#include <filesystem>
#include <future>
#include <string>
#include <thread>

#include <assay/base/files.h>

namespace assay::launch {

/// Copies a container's output into two files, on a thread of its own that always reads: whoever
/// leaves the daemon's stream alone stops the app at its next line. What cannot be written (a full
/// disk) is dropped and counted.
class LogPump {
 public:
  /// Returns when nothing that the container will say can be missed.
  static Result<std::unique_ptr<LogPump>> start(const net::Endpoint& endpoint,
                                                const std::string& id,
                                                const std::filesystem::path& standard,
                                                const std::filesystem::path& error);
  LogPump(const LogPump&) = delete;
  LogPump& operator=(const LogPump&) = delete;
  ~LogPump();

  /// The stream has ended: the container's end, its app's wish, or the daemon's end.
  bool ended() const { return ended_; }
  /// It was the daemon's end: nobody answered at its address right afterwards.
  bool lost_daemon() const { return lost_daemon_; }
  uint64_t dropped_bytes() const { return dropped_; }
  /// Waits a while for the rest of an ended container's output, then gives up on it.
  void finish();
  /// The stream had not ended when finish() gave up.
  bool gave_up() const { return gave_up_; }

 private:
  LogPump(const net::Endpoint& endpoint, Fd standard, Fd error);
  void run(const std::string& id);
  void take(Output output, std::string_view bytes);
  bool daemon_has_ended(const std::string& id);

  Engine engine_;
  Fd files_[2];
  net::Stopper stopper_;
  std::promise<Result<void>> attached_;
  std::promise<void> over_;
  std::future<void> is_over_ = over_.get_future();
  std::atomic<bool> lost_daemon_ = false;
  std::atomic<bool> ended_ = false;
  bool gave_up_ = false;  ///< of the thread that calls finish()
  std::atomic<uint64_t> dropped_ = 0;
  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace assay::launch
