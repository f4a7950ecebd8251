// SPDX-License-Identifier: Apache-2.0
#include "rate_limit.h"

#include <algorithm>

namespace assay::serve {

void RateLimit::forget_rested(Timestamp now) {
  std::erase_if(buckets_, [&](const auto& entry) {
    const double rested = seconds(now - entry.second.last) * per_second_;
    return entry.second.left + rested >= burst();
  });
}

bool RateLimit::allows(const std::string& caller, Timestamp now) {
  if (buckets_.size() >= kMostCallers) forget_rested(now);
  if (buckets_.size() >= kMostCallers && !buckets_.contains(caller)) return false;
  auto& bucket = buckets_.try_emplace(caller, Bucket{burst(), now}).first->second;
  const double rested = std::max(seconds(now - bucket.last), 0.0) * per_second_;
  bucket.left = std::min(bucket.left + rested, burst());
  bucket.last = now;
  if (bucket.left < 1) return false;
  bucket.left -= 1;
  return true;
}

}  // namespace assay::serve
