// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "process/wire.h"

#include <optional>
#include <sys/types.h>

#include <assay/base/files.h>
#include <assay/base/result.h>
#include <assay/launch/launcher.h>

namespace assay::launch {

/// Our side of a keeper. Destroying it makes the keeper kill its app's whole tree, and waits for
/// that.
class KeeperClient {
 public:
  /// Starts a keeper from our own executable: `assay keeper 3`.
  static Result<KeeperClient> spawn();
  KeeperClient(KeeperClient&& other) noexcept;
  KeeperClient& operator=(KeeperClient&&) = delete;
  ~KeeperClient();

  pid_t pid() const { return pid_; }
  int fd() const { return socket_.get(); }

  /// Waits for the app's exec. Gives the report of either outcome.
  Result<Report> start(const StartOrder& order);
  void stop(StopStep step);
  /// A report if there is one.
  Received<Report> poll();
  /// Has the tree ended; nothing when the keeper is gone.
  std::optional<Report> release();
  /// Has the tree killed at once; false when the keeper was killed and cannot have done it.
  bool abandon();

 private:
  KeeperClient(pid_t pid, Fd socket) : pid_(pid), socket_(std::move(socket)) {}

  pid_t pid_;
  Fd socket_;
};

}  // namespace assay::launch
