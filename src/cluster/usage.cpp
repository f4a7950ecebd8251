// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include <assay/cluster/usage.h>

namespace assay::cluster {
namespace {

using nlohmann::json;

/// Values of a bucket are at most 2 % from its middle.
constexpr double kRatio = 1.04;
constexpr int16_t kZero = std::numeric_limits<int16_t>::min();
constexpr double kSmallest = 1e-12;
/// Beyond, the smallest values are no longer told apart: percentiles of interest are high ones.
constexpr size_t kMostBuckets = 160;

int16_t bucket_of(double value) {
  if (value < kSmallest) return kZero;
  const double at = std::ceil(std::log(value) / std::log(kRatio));
  return static_cast<int16_t>(std::clamp(at, -32'000.0, 32'000.0));
}

double middle_of(int16_t bucket) {
  return bucket == kZero ? 0 : 2 * std::pow(kRatio, bucket) / (kRatio + 1);
}

}  // namespace

void Usage::add_to_bucket(int16_t at, uint32_t count) {
  const auto found =
      std::lower_bound(buckets_.begin(), buckets_.end(), at,
                       [](const Bucket& b, int16_t wanted) { return b.at < wanted; });
  if (found != buckets_.end() && found->at == at) {
    found->count += count;
    return;
  }
  buckets_.insert(found, {at, count});
  if (buckets_.size() <= kMostBuckets) return;
  buckets_[1].count += buckets_[0].count;
  buckets_.erase(buckets_.begin());
}

void Usage::add(double value) {
  if (!std::isfinite(value) || value < 0) return;
  add_to_bucket(bucket_of(value), 1);
  ++count_;
  sum_ += value;
  last_ = value;
  max_ = std::max(max_, value);
}

void Usage::merge(const Usage& other) {
  for (const auto& bucket : other.buckets_) add_to_bucket(bucket.at, bucket.count);
  count_ += other.count_;
  sum_ += other.sum_;
  max_ = std::max(max_, other.max_);
  if (other.count_) last_ = other.last_;
}

void Usage::precede(const Usage& before) {
  const Usage since = std::exchange(*this, before);
  merge(since);
}

void Usage::reconcile(const Usage& other) {
  const double most = std::max(max_, other.max_);
  if (other.count_ > count_) {
    const double last = count_ ? last_ : other.last_;
    *this = other;
    last_ = last;
  }
  max_ = most;
}

double Usage::mean() const {
  // A sum of many is rounded.
  return count_ ? std::min(sum_ / static_cast<double>(count_), max_) : 0;
}

double Usage::percentile(double share) const {
  const double wanted = std::clamp(share, 0.0, 1.0) * static_cast<double>(count_);
  double passed = 0;
  for (const auto& bucket : buckets_) {
    passed += bucket.count;
    if (passed >= wanted) return std::clamp(middle_of(bucket.at), least_percentile(share), max_);
  }
  return max_;
}

/// If none of the values above it is more than the largest, it cannot be less than this. Of values
/// that are all the same that is their value.
double Usage::least_percentile(double share) const {
  if (!(share > 0 && share < 1)) return 0;
  return std::max(0.0, mean() - (max_ - mean()) * (1 - share) / share);
}

std::string Usage::to_text() const {
  json buckets = json::array();
  for (const auto& bucket : buckets_) buckets.push_back({bucket.at, bucket.count});
  return json{{"sum", sum_}, {"last", last_}, {"max", max_}, {"buckets", buckets}}.dump();
}

Result<Usage> Usage::from_text(std::string_view text) {
  const auto read = json::parse(text, nullptr, false);
  Usage usage;
  try {
    usage.sum_ = read.at("sum").get<double>();
    usage.last_ = read.at("last").get<double>();
    usage.max_ = read.at("max").get<double>();
    for (const auto& bucket : read.at("buckets")) {
      const auto count = bucket.at(1).get<uint32_t>();
      usage.add_to_bucket(bucket.at(0).get<int16_t>(), count);
      usage.count_ += count;
    }
  } catch (const json::exception&) {
    return bad_input("a usage of the history cannot be read");
  }
  return usage;
}

}  // namespace assay::cluster
