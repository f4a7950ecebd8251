// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include <assay/base/time.h>
#include <assay/hooks/server.h>
#include <assay/samples/series.h>

namespace assay::hooks {

/// Follows what a Waggle plugin publishes: with PYWAGGLE_LOG_DIR set to a folder, pywaggle appends
/// every message to its "data.ndjson". Numbers become series of Kind::event with Scope::app under
/// the names that the plugin gave; durations of `timeit`, which pywaggle writes as plain numbers of
/// nanoseconds, become seconds. They are told by their form: a whole number without `meta` whose
/// name has the part "timeit" or "duration", or ends in "_ns". What cannot be understood is counted
/// as loss, and never fatal. Not thread-safe: polled by the run's own loop.
class PywaggleLog {
 public:
  virtual ~PywaggleLog() = default;
  /// Takes what has been written since, up to the limit of bytes, and never waits. To be called at
  /// every beat.
  virtual void poll() = 0;
  /// The app has ended: takes what is left.
  virtual void finish() = 0;
  virtual const std::map<std::string, double>& latest() const = 0;
  /// Published values that are no numbers (labels, uploads): no loss, since they are none of ours.
  virtual uint64_t texts() const = 0;
};

/// The file need not be there yet, may be cut short and may be replaced; links are not followed,
/// since the app writes into the folder.
std::unique_ptr<PywaggleLog> follow_pywaggle_log(const std::filesystem::path& folder,
                                                 const Clock& clock, SampleSink& sink,
                                                 const Limits& limits = {});

}  // namespace assay::hooks
