// SPDX-License-Identifier: Apache-2.0
#include "kubernetes/clock_offset.h"

namespace assay::launch {
namespace {

/// Clocks of usual machines go apart by less, and those that follow a time server by much less.
constexpr int64_t kDriftPart = 20'000;  // 50 millionths

}  // namespace

void ClockOffset::add(Timestamp asked, Timestamp answered, Timestamp theirs) {
  if (answered < asked) return;
  const Nanoseconds half = (answered - asked) / 2;
  const Learned now = {theirs - (asked + half), half, answered};
  if (!best_) {
    best_ = now;
    return;
  }
  const Nanoseconds by_now = best_->uncertainty + (answered - best_->when) / kDriftPart;
  const bool was_set = std::chrono::abs(now.offset - best_->offset) > by_now + half;
  if (half <= by_now || was_set) best_ = now;
}

Nanoseconds ClockOffset::offset() const {
  return best_ ? best_->offset : Nanoseconds(0);
}

Nanoseconds ClockOffset::uncertainty() const {
  return best_ ? best_->uncertainty : Nanoseconds(0);
}

}  // namespace assay::launch
