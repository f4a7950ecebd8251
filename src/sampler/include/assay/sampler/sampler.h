// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include <assay/base/time.h>
#include <assay/probes/probe.h>
#include <assay/samples/records.h>
#include <assay/samples/series.h>

namespace assay::sampler {

/// The beat: which probe is read when, what happens when one fails, and what all of it costs. Owns no
/// thread and no timer: the run's loop calls `beat` when `next` has come. Beats lie on a fixed grid, so
/// that lateness never adds up; a beat that is missed altogether is skipped and counted.
class Sampler {
 public:
  Sampler(probes::Probes probes, const Clock& clock, SampleSink& sink, Nanoseconds interval);

  /// Opens the probes; those that cannot measure go to not_measured(), once, with their reason.
  void open();
  /// When the next beat is due.
  Timestamp next() const { return next_; }
  /// Reads every probe whose turn it is and moves next() on.
  void beat();
  /// Reads every probe once, whatever its pace: the state at the end of the run.
  void last_beat();

  std::vector<NotMeasured> not_measured() const { return not_measured_; }
  Sampling stats() const;

 private:
  struct Slot {
    std::unique_ptr<probes::Probe> probe;
    Timestamp due;
    bool failed = false;
  };
  void read(Slot& slot);
  void report_own_cost(Timestamp now);

  const Clock& clock_;
  SampleSink& sink_;
  Nanoseconds interval_;
  std::vector<Slot> slots_;
  std::vector<NotMeasured> not_measured_;
  Timestamp start_;
  Timestamp next_;
  Timestamp first_beat_;
  Timestamp last_beat_;
  Sampling stats_;
  double cpu_at_open_ = 0;
  SeriesId own_cpu_{};
  SeriesId own_memory_{};
};

}  // namespace assay::sampler
