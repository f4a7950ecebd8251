// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <assay/base/result.h>

namespace assay::cluster {

/// What was used of one thing, over any time, in a few hundred bytes: the last value, the largest,
/// the mean, and percentiles that are at most 2 % off unless they are below a 500th of the largest.
/// Several can be put together. Values below zero and those that are not finite are not taken.
class Usage {
 public:
  void add(double value);
  /// As if the values of both had come here; the last one is that of `other`, if it has any.
  void merge(const Usage& other);
  /// As if the values of `before` had come here first: it was kept while nobody looked.
  void precede(const Usage& before);
  /// Somebody else saw the same at the same time: whoever saw more of it is right, and the largest
  /// value of both is the largest.
  void reconcile(const Usage& other);

  uint64_t count() const { return count_; }
  double last() const { return last_; }
  double max() const { return max_; }
  double mean() const;
  /// `share` from 0 to 1; 0 when there are no values.
  double percentile(double share) const;
  double p95() const { return percentile(0.95); }

  /// JSON, for the history.
  std::string to_text() const;
  static Result<Usage> from_text(std::string_view text);

 private:
  struct Bucket {
    int16_t at;
    uint32_t count;
  };
  void add_to_bucket(int16_t at, uint32_t count);
  double least_percentile(double share) const;

  std::vector<Bucket> buckets_;  ///< ascending
  uint64_t count_ = 0;
  double sum_ = 0;
  double last_ = 0;
  double max_ = 0;
};

}  // namespace assay::cluster
