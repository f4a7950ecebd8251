// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <assay/samples/series.h>
#include <assay/store/store.h>

namespace assay::store {

/// The sink of one run: gathers samples and lets a thread of its own write them to the store at
/// least twice a second, so that a slow disk delays neither the beat nor the app. While another
/// program keeps the store locked, it holds the samples and tries again; only when they are too
/// many, the oldest go and are counted. If the disk refuses (full, gone), it keeps the error, drops
/// and counts what comes after. It never blocks the caller. Times are kept in whole microseconds:
/// what is below is the noise of reading, and would take most of the bytes. Never to be called by
/// two threads at once.
class Recorder : public SampleSink {
 public:
  ~Recorder() override = default;
  /// The first error of the writing thread that is not temporary; nothing while all is well.
  virtual std::optional<Error> error() const = 0;
  /// Writes all that is left, stops the thread and returns what was lost on the way; or error()
  /// with the number of samples that it cost.
  virtual Result<std::vector<Loss>> finish() = 0;
};

/// `store` must outlive the recorder.
std::unique_ptr<Recorder> make_recorder(Store& store, std::string session_id, int run);

}  // namespace assay::store
