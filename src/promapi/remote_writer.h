// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <random>
#include <string>
#include <string_view>

#include <assay/base/mutex.h>
#include <assay/net/http_client.h>
#include <assay/promapi/remote_write.h>

namespace assay::promapi {

/// How long the receiver asks to wait, as seconds or as a date, and at most an hour; nothing when
/// it does not, or not in a way that can be understood.
std::optional<Milliseconds> retry_after(std::string_view header, Timestamp now);

/// What the sender does, step by step and without its thread: one thread at a time but for
/// status(). It asks the injected clock whether a wait is over and never waits by itself.
class RemoteWriter {
 public:
  RemoteWriter(RemoteWriteOptions options, DiskQueue& queue, const Clock& clock,
               RemoteWriteSender::Tell tell, uint32_t seed);

  /// Sends the oldest record if there is one and its time has come. Gives how long to wait for the
  /// next step; nothing: until something is queued.
  std::optional<Milliseconds> step(net::Stopper& stopper);
  RemoteWriteStatus status() const;

 private:
  std::optional<Milliseconds> wait_left() const;
  void send(net::Stopper& stopper);
  Result<net::Response> post(net::Stopper& stopper);
  void take_answer(const net::Response& answer);
  void sent();
  void drop(const net::Response& answer);
  void try_later(const std::string& why, std::optional<Milliseconds> asked_for = {});
  Milliseconds next_wait();
  std::string where() const;

  const RemoteWriteOptions options_;
  DiskQueue& queue_;
  const Clock& clock_;
  const RemoteWriteSender::Tell tell_;
  net::HttpClient client_;
  std::minstd_rand random_;
  std::optional<QueueRecord> record_;  ///< on its way; kept when its file makes room for new ones
  Milliseconds wait_;                  ///< after the next failure, before chance changes it
  Timestamp not_before_{};
  std::optional<Timestamp> failing_since_;
  bool told_drop_ = false;
  mutable Mutex mutex_;
  RemoteWriteStatus status_ ASSAY_GUARDED_BY(mutex_);
};

}  // namespace assay::promapi
