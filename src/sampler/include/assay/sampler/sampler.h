// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include <assay/base/time.h>
#include <assay/probes/probe.h>
#include <assay/samples/records.h>
#include <assay/samples/series.h>

namespace assay::sampler {

class OwnCost;

/// The beat: which probe is read when, what happens when one fails, and what all of it costs. Owns
/// no thread and no timer: the run's loop calls `beat` when `next` has come. Beats lie on a fixed
/// grid, so that lateness never adds up; a beat that is missed altogether is skipped and counted.
/// When reading takes more than a fifth of the interval again and again, the interval is doubled
/// and that is said.
class Sampler {
 public:
  /// `clock` and `sink` must outlive the sampler.
  Sampler(probes::Probes probes, const Clock& clock, SampleSink& sink, Nanoseconds interval);
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  /// Opens the probes; those that cannot measure go to not_measured(), once, with their reason.
  void open();
  /// When the next beat is due.
  Timestamp next() const { return next_; }
  /// Reads every probe whose turn it is and moves next() on.
  void beat();
  /// Reads every probe once, whatever its pace: the state at the end of the run.
  void last_beat();

  const std::vector<NotMeasured>& not_measured() const { return not_measured_; }
  Sampling stats() const;

 private:
  struct Slot {
    std::unique_ptr<probes::Probe> probe;
    Timestamp due;
    bool failed = false;
  };
  void read(Slot& slot);
  void move_on(Timestamp began);
  void slow_down_if_dear(Nanoseconds cost);
  void report_own_cost(Timestamp now);

  const Clock& clock_;
  SampleSink& sink_;
  Nanoseconds interval_;
  std::vector<Slot> slots_;
  std::vector<NotMeasured> not_measured_;
  Timestamp next_;
  Timestamp first_beat_;
  Timestamp last_beat_;
  Timestamp own_cost_due_;
  int dear_beats_ = 0;
  Sampling stats_;
  std::unique_ptr<OwnCost> own_cost_;
  double cpu_at_open_ = 0;
  SeriesId own_cpu_{};
  SeriesId own_memory_{};
};

}  // namespace assay::sampler
