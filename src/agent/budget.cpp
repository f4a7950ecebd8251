// SPDX-License-Identifier: Apache-2.0
#include "budget.h"

#include <algorithm>

namespace assay::agent {
namespace {

constexpr auto kJudged = std::chrono::seconds(10);
constexpr int kSlowest = 32;

}  // namespace

void Budget::spent(Timestamp now, double cpu_seconds) {
  // The first call, and a clock that was set back.
  if (since_ == Timestamp() || now < since_) {
    since_ = now;
    cpu_since_ = cpu_seconds;
    return;
  }
  if (now - since_ < kJudged) return;
  measured_ = (cpu_seconds - cpu_since_) / seconds(now - since_);
  since_ = now;
  cpu_since_ = cpu_seconds;
  if (share_ <= 0) return;
  // Half of it has to be free before it beats twice as often again.
  if (measured_ > share_) slowness_ = std::min(slowness_ * 2, kSlowest);
  if (measured_ < share_ * 0.4) slowness_ = std::max(slowness_ / 2, 1);
}

}  // namespace assay::agent
