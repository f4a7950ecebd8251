// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include <assay/base/time.h>
#include <assay/launch/launcher.h>

namespace assay::session {

/// How an app is asked to end: SIGINT, after the grace SIGTERM, a little later SIGKILL.
class StopSequence {
 public:
  explicit StopSequence(Nanoseconds grace) : grace_(grace) {}

  bool started() const { return last_.has_value(); }
  /// When the next step is due; nothing before begin() and after the last step.
  std::optional<Timestamp> due() const { return due_; }
  void begin(Timestamp now) {
    if (!started()) due_ = now;
  }
  /// Makes the next step due at once: the user is out of patience.
  void hurry(Timestamp now) {
    if (!started() || due_) due_ = now;
  }
  /// Whether even SIGKILL has not ended it for long.
  bool given_up(Timestamp now) const;
  /// The step to take now, if one is due.
  std::optional<launch::StopStep> step(Timestamp now);

 private:
  Nanoseconds grace_;
  std::optional<launch::StopStep> last_;
  std::optional<Timestamp> due_;
  std::optional<Timestamp> killed_;
};

}  // namespace assay::session
