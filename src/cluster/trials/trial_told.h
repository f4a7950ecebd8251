// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <assay/cluster/scaling_law.h>
#include <assay/samples/series.h>
#include <assay/store/recorder.h>

namespace assay::cluster {

/// What all pods of a trial told of a time, added up. What nobody told is absent.
struct Told {
  std::optional<double> cores = {};
  std::optional<double> memory_bytes = {};  ///< most
  std::optional<Estimate> throughput = {};  ///< of what they reported; its sd is relative
};

/// Keeps the samples of a run, and remembers those by which its trial is measured.
class TrialSink final : public SampleSink {
 public:
  /// `metric` is what the app reports: rates, or a count that grows. It may be empty.
  TrialSink(std::unique_ptr<store::Recorder> recorder, std::string metric)
      : recorder_(std::move(recorder)), metric_(std::move(metric)) {}

  SeriesId declare(const SeriesInfo& info) override;
  void sample(SeriesId id, Timestamp time, double value) override;
  void lost(const Loss& loss) override { recorder_->lost(loss); }

  store::Recorder& recorder() { return *recorder_; }
  /// Adds what it remembers of that time.
  void tell(Timestamp from, Timestamp to, Told& told) const;

 private:
  const std::unique_ptr<store::Recorder> recorder_;
  const std::string metric_;
  std::vector<Series> series_;  ///< by their ids; without samples where nobody asks for them
};

}  // namespace assay::cluster
