// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include <assay/base/result.h>
#include <assay/base/time.h>
#include <assay/hooks/report.h>
#include <assay/samples/series.h>

namespace assay::hooks {

/// Bounds on what clients can cost us.
struct Limits {
  size_t clients = 256;          ///< further ones are refused and counted
  size_t message_bytes = 65536;  ///< a longer message is skipped and counted
  /// Distinct metric names: of a run, or of one caller of a ReportSink. Further ones are dropped
  /// and counted.
  size_t names = 1000;
  size_t bytes_per_poll =
      1U << 20U;  ///< of one client, so that one that floods cannot starve the beat
  size_t caller_bytes = 1U << 20U;  ///< for the names and durations of one caller of a ReportSink
  size_t bytes = 32U << 20U;        ///< for those of all callers together
  /// How often shared memory is looked at unasked; a client whose ring is half full asks.
  Nanoseconds visit_interval{0};
};

/// Takes self-reported metrics over a unix socket: JSON objects {"name": {"value": v, "timestamp":
/// s}} each followed by a blank line, from many clients at once, in pieces of any size. A client
/// that sends an empty object gets shared memory to report through, see
/// clients/cpp/assay.hpp. What cannot be understood is counted as loss, and never fatal. Not
/// thread-safe: polled by its owner's loop, when fd() is readable and at every beat.
class Server {
 public:
  virtual ~Server() = default;
  /// Readable when poll() has something to do (an epoll descriptor: nests in any event loop).
  virtual int fd() const = 0;
  /// Takes what has arrived, without ever waiting, and pushes it: to a SampleSink as series
  /// of Kind::event with Scope::app. Values are stamped with the client's time when it is
  /// plausible, else with ours.
  virtual void poll() = 0;
  /// From now on shared memory is looked at so often (see Limits::visit_interval).
  virtual void visit_every(Nanoseconds interval) = 0;
  /// The latest value of every metric reported so far, e.g. for the live line.
  virtual const std::map<std::string, double>& latest() const = 0;
};

/// Makes the socket at `path` (its folder must exist; mode 0666 so that apps of other users may
/// speak).
Result<std::unique_ptr<Server>> listen(const std::filesystem::path& path, const Clock& clock,
                                       SampleSink& sink, const Limits& limits = {});

/// The same for many apps, told apart by who is calling. Timers become histograms, however they
/// are reported. `latest()` stays empty.
Result<std::unique_ptr<Server>> listen(const std::filesystem::path& path, const Clock& clock,
                                       ReportSink& sink, const Limits& limits = {});

}  // namespace assay::hooks
