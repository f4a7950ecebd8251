// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace assay::hooks {

/// Durations in log-linear buckets, 64 to each doubling of time, from a nanosecond to almost five
/// hours: a quantile is at most 0.8 % off. What is shorter or longer counts in the first or last
/// bucket. Memory is taken only for the doublings that are in use, and kept by `clear`, so that
/// adding costs no allocation in steady state. Not thread-safe.
class Histogram {
 public:
  static constexpr size_t kGroups = 44;  ///< doublings
  static constexpr size_t kGroupSize = 64;
  static constexpr size_t kBuckets = kGroups * kGroupSize;
  using Group = std::array<uint64_t, kGroupSize>;

  void add(double seconds, uint64_t count = 1);
  /// The same when only the bucket is known.
  void add_to_bucket(size_t bucket, uint64_t count);
  void merge(const Histogram& other);
  void clear();

  uint64_t count() const { return count_; }
  /// In seconds; of durations of which only the buckets were known, at most 0.8 % off.
  double sum() const { return sum_; }
  uint64_t in_bucket(size_t bucket) const;
  bool has_group(size_t group) const { return groups_[group] != nullptr; }
  /// In seconds, for q from 0 to 1; NaN when there are none.
  double quantile(double q) const;
  /// How many are at most as long as each of the bounds (seconds, ascending), as Prometheus' `le`
  /// wants it. A bucket belongs to a bound by its middle.
  void count_up_to(std::span<const double> bounds, std::span<uint64_t> counts) const;

  static size_t bucket_of(double seconds);
  /// The middle of a bucket, in seconds.
  static double middle(size_t bucket);

 private:
  void count_in(size_t bucket, uint64_t count);

  std::array<std::unique_ptr<Group>, kGroups> groups_{};
  uint64_t count_ = 0;
  double sum_ = 0;
};

}  // namespace assay::hooks
