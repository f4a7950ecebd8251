// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <assay/base/time.h>

namespace assay::agent {

/// Keeps the daemon's own CPU time under a share of one core, by beating less often while it is
/// dearer. Judged over ten seconds, so that one dear moment changes nothing.
class Budget {
 public:
  /// `share` of one core; 0: no limit. `interval` is the beat that is wanted.
  Budget(double share, Milliseconds interval) : share_(share), wanted_(interval) {}

  void change(double share, Milliseconds interval) {
    share_ = share;
    wanted_ = interval;
  }
  /// To be told after each beat: the CPU time that the process has used so far.
  void spent(Timestamp now, double cpu_seconds);
  /// The beat to keep for now.
  Milliseconds interval() const { return wanted_ * slowness_; }
  /// Of one core, over the last ten seconds.
  double share() const { return measured_; }
  bool is_slowed() const { return slowness_ > 1; }

 private:
  double share_;
  Milliseconds wanted_;
  int slowness_ = 1;
  double measured_ = 0;
  Timestamp since_{};
  double cpu_since_ = 0;
};

}  // namespace assay::agent
