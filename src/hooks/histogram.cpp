// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <assay.hpp>
#include <cmath>
#include <limits>

#include <assay/hooks/histogram.h>

namespace assay::hooks {

namespace shared = client::shared;

static_assert(Histogram::kGroups == shared::kGroups);
static_assert(Histogram::kGroupSize == shared::kGroupSize);

void Histogram::add(double seconds, uint64_t count) {
  count_in(bucket_of(seconds), count);
  sum_ += seconds * static_cast<double>(count);
}

void Histogram::add_to_bucket(size_t bucket, uint64_t count) {
  count_in(bucket, count);
  sum_ += middle(bucket) * static_cast<double>(count);
}

void Histogram::count_in(size_t bucket, uint64_t count) {
  auto& group = groups_[bucket / kGroupSize];
  if (group == nullptr) group = std::make_unique<Group>();
  (*group)[bucket % kGroupSize] += count;
  count_ += count;
}

void Histogram::merge(const Histogram& other) {
  for (size_t g = 0; g < kGroups; ++g) {
    if (other.groups_[g] == nullptr) continue;
    if (groups_[g] == nullptr) groups_[g] = std::make_unique<Group>();
    std::transform(groups_[g]->begin(), groups_[g]->end(), other.groups_[g]->begin(),
                   groups_[g]->begin(), std::plus<>());
  }
  count_ += other.count_;
  sum_ += other.sum_;
}

void Histogram::clear() {
  for (const auto& group : groups_) {
    if (group != nullptr) group->fill(0);
  }
  count_ = 0;
  sum_ = 0;
}

uint64_t Histogram::in_bucket(size_t bucket) const {
  const auto& group = groups_[bucket / kGroupSize];
  return group == nullptr ? 0 : (*group)[bucket % kGroupSize];
}

double Histogram::quantile(double q) const {
  if (count_ == 0) return std::numeric_limits<double>::quiet_NaN();
  const double wanted = std::ceil(std::clamp(q, 0.0, 1.0) * static_cast<double>(count_));
  const uint64_t rank = std::clamp<uint64_t>(static_cast<uint64_t>(wanted), 1, count_);
  uint64_t before = 0;
  for (size_t g = 0; g < kGroups; ++g) {
    if (groups_[g] == nullptr) continue;
    for (size_t i = 0; i < kGroupSize; ++i) {
      before += (*groups_[g])[i];
      if (before >= rank) return middle(g * kGroupSize + i);
    }
  }
  return middle(kBuckets - 1);
}

void Histogram::count_up_to(std::span<const double> bounds, std::span<uint64_t> counts) const {
  uint64_t so_far = 0;
  size_t bucket = 0;
  for (size_t b = 0; b < bounds.size(); ++b) {
    while (bucket < kBuckets && middle(bucket) <= bounds[b]) {
      if (groups_[bucket / kGroupSize] == nullptr && bucket % kGroupSize == 0 &&
          middle(bucket + kGroupSize - 1) <= bounds[b]) {
        bucket += kGroupSize;
      } else {
        so_far += in_bucket(bucket++);
      }
    }
    counts[b] = so_far;
  }
}

size_t Histogram::bucket_of(double seconds) {
  constexpr double kLongest = 1e6;
  return shared::bucket_of(static_cast<int64_t>(std::clamp(seconds, 0.0, kLongest) * 1e9));
}

double Histogram::middle(size_t bucket) {
  const double in_group = (static_cast<double>(bucket % kGroupSize) + 0.5) / kGroupSize;
  return std::ldexp(1 + in_group, static_cast<int>(bucket / kGroupSize)) * 1e-9;
}

}  // namespace assay::hooks
