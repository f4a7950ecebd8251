// SPDX-License-Identifier: Apache-2.0
#include "stop_sequence.h"

#include <algorithm>

namespace assay::session {
namespace {

constexpr Nanoseconds kLongestWaitForKill = std::chrono::seconds(5);

/// The keeper then tries for some seconds more.
constexpr Nanoseconds kLongestDeath = std::chrono::seconds(15);

}  // namespace

bool StopSequence::given_up(Timestamp now) const {
  return killed_ && now >= *killed_ + kLongestDeath;
}

std::optional<launch::StopStep> StopSequence::step(Timestamp now) {
  using launch::StopStep;
  if (!due_ || now < *due_) return std::nullopt;
  if (!last_) {
    last_ = StopStep::interrupt;
    due_ = now + grace_;
  } else if (*last_ == StopStep::interrupt) {
    last_ = StopStep::terminate;
    due_ = now + std::min(grace_, kLongestWaitForKill);
  } else {
    last_ = StopStep::kill;
    due_.reset();
    killed_ = now;
  }
  return last_;
}

}  // namespace assay::session
