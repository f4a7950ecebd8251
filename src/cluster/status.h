// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "publisher.h"

#include <cstdint>
#include <memory>
#include <string>

#include <assay/base/mutex.h>
#include <assay/base/result.h>
#include <assay/base/time.h>

namespace assay::cluster {

/// How the profiler itself is doing.
struct Status {
  bool leads = false;
  bool another_leads = false;
  uint64_t rounds = 0;
  uint64_t failed_readings = 0;     ///< rounds in which Prometheus gave no answer that can be used
  double round_seconds = 0;         ///< of the last one, without waiting
  double reading_age_seconds = -1;  ///< of what is told; below 0: nothing has been read yet
  size_t nodes = 0;
  size_t pods = 0;
  size_t jobs = 0;
  size_t gpus = 0;
  bool history_saved = true;
  Writes writes = {};
};

/// What was seen and written, in a sentence for whoever asked for some rounds.
std::string status_sentence(const Status& status);

/// The status as text for Prometheus.
std::string status_text(const Status& status);

/// Tells the status over HTTP, in a thread of its own.
class StatusServer {
 public:
  /// At "/metrics"; "/healthz" is "ok" while alive() is called each `interval`, or a few minutes
  /// later. The clock has to live longer.
  static Result<std::unique_ptr<StatusServer>> start(const std::string& address, const Clock& clock,
                                                     Nanoseconds interval);
  virtual ~StatusServer() = default;
  virtual void set(const Status& status) = 0;
  virtual void alive() = 0;
  virtual int port() const = 0;
};

}  // namespace assay::cluster
