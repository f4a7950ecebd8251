// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include <assay/base/time.h>

namespace assay::launch {

/// How far another machine's clock is ahead of ours, learned from answers that tell its time. An
/// answer was made at some moment between the question and its arrival; taken for the middle, that
/// is wrong by half the time between them at most, so the quickest answer tells most. Clocks drift
/// apart: an old answer is believed the less the older it is, and not at all once a clock was set.
class ClockOffset {
 public:
  /// All but `theirs` on our clock.
  void add(Timestamp asked, Timestamp answered, Timestamp theirs);

  bool known() const { return best_.has_value(); }
  /// Their clock minus ours; 0 when it is not known.
  Nanoseconds offset() const;
  /// By how much the offset may have been wrong when it was learned.
  Nanoseconds uncertainty() const;
  Timestamp ours(Timestamp theirs) const { return theirs - offset(); }

 private:
  struct Learned {
    Nanoseconds offset;
    Nanoseconds uncertainty;
    Timestamp when;
  };
  std::optional<Learned> best_;
};

}  // namespace assay::launch
