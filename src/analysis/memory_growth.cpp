// SPDX-License-Identifier: Apache-2.0
#include "memory_growth.h"

#include "distribution.h"

#include <algorithm>

namespace assay::analysis {
namespace {

constexpr size_t kParts = 20;
constexpr Nanoseconds kShortest = std::chrono::seconds(20);
constexpr double kLeastShare = 0.10;
constexpr double kLeastBytes = 5e6;
constexpr double kRisingPairs = 0.9;

std::vector<double> part_medians(const std::vector<Interval>& levels, Timestamp from,
                                 Nanoseconds part) {
  std::vector<double> medians;
  for (size_t i = 0; i < kParts; ++i) {
    const Timestamp begin = from + static_cast<int64_t>(i) * part;
    const Distribution d = distribution_of(levels, begin, begin + part);
    if (d.count == 0) return {};
    medians.push_back(d.p50);
  }
  return medians;
}

struct Slope {
  double median = 0;  ///< per part
  double rising = 0;  ///< share of the pairs of which the later one is higher
};

Slope slope_of(const std::vector<double>& parts, size_t begin) {
  std::vector<double> slopes;
  size_t rising = 0;
  for (size_t i = begin; i < parts.size(); ++i) {
    for (size_t j = i + 1; j < parts.size(); ++j) {
      slopes.push_back((parts[j] - parts[i]) / static_cast<double>(j - i));
      if (parts[j] > parts[i]) ++rising;
    }
  }
  const double share = static_cast<double>(rising) / static_cast<double>(slopes.size());
  const auto middle = slopes.begin() + static_cast<ptrdiff_t>(slopes.size() / 2);
  std::nth_element(slopes.begin(), middle, slopes.end());
  return {*middle, share};
}

}  // namespace

std::optional<Growth> steady_growth(const std::vector<Interval>& levels, Timestamp from,
                                    Timestamp to) {
  if (to - from < kShortest) return std::nullopt;
  const Nanoseconds part = (to - from) / static_cast<int64_t>(kParts);
  const auto parts = part_medians(levels, from, part);
  if (parts.empty()) return std::nullopt;
  const Slope whole = slope_of(parts, 0);
  const Slope half = slope_of(parts, kParts / 2);
  const double grown = whole.median * static_cast<double>(kParts - 1);
  const bool steady = whole.rising >= kRisingPairs && half.median >= whole.median / 2;
  if (!steady || grown < std::max(kLeastBytes, kLeastShare * parts.front())) return std::nullopt;
  return Growth{parts.front(), parts.back(), whole.median / seconds(part), to - from};
}

}  // namespace assay::analysis
