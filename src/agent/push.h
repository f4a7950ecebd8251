// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <assay/agent/agent.h>
#include <assay/base/result.h>
#include <assay/base/time.h>
#include <assay/promapi/disk_queue.h>
#include <assay/promapi/family_writer.h>
#include <assay/promapi/remote_write.h>
#include <assay/promapi/request_writer.h>

namespace assay::agent {

/// Pushes all families to a Prometheus that cannot reach this node: each pass goes into a queue on
/// disk, which outlives lost links and restarts. The daemon's own thread makes the passes; another
/// one, which waits nearly always, sends what is queued. libcurl is loaded with that one.
class Push {
 public:
  using Write = std::function<void(promapi::FamilyWriter& out)>;

  /// Opens the queue; `instance` is what Prometheus is to call this node.
  static Result<std::unique_ptr<Push>> open(const RemoteWrite& settings,
                                            const std::string& instance, const Clock& clock,
                                            Tell tell);
  /// Begins to send. What it has to tell comes from the thread that sends.
  Result<void> start_sending(Tell tell);

  /// Queues what `write` writes, as of now.
  void pass(const Write& write);
  /// assay_agent_remote_write_*.
  void write_own(promapi::FamilyWriter& out) const;

  Milliseconds interval() const { return settings_.interval; }
  promapi::DiskQueue& queue() { return *queue_; }

 private:
  Push(RemoteWrite settings, const std::string& instance, const Clock& clock, Tell tell,
       std::unique_ptr<promapi::DiskQueue> queue);
  void keep(std::string_view request, uint32_t samples);

  const RemoteWrite settings_;
  const Clock& clock_;
  const Tell tell_;
  const std::unique_ptr<promapi::DiskQueue> queue_;
  promapi::RequestWriter writer_;
  uint64_t passes_ = 0;
  bool disk_failing_ = false;
  std::unique_ptr<promapi::RemoteWriteSender> sender_;  ///< last: its thread uses the queue
};

/// The folder that the queue is in: the one named, else one in systemd's state folder of the
/// daemon.
Result<std::filesystem::path> queue_folder(const RemoteWrite& settings);

}  // namespace assay::agent
