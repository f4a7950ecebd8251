// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>

#include <assay/analysis/cycles.h>

namespace assay::analysis {

double period_by_autocorrelation_rule(std::span<const double> values) {
  const size_t n = values.size();
  if (n < 8) return 0;
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(n);
  std::vector<double> correlation(n / 2);
  for (size_t lag = 0; lag < correlation.size(); ++lag)
    for (size_t i = lag; i < n; ++i)
      correlation[lag] += (values[i] - mean) * (values[i - lag] - mean);
  if (!(correlation[0] > 0)) return 0;
  const double line = 1.96 / std::sqrt(static_cast<double>(n));
  std::vector<double> distances;
  size_t last = 0;
  for (size_t lag = 1; lag + 1 < correlation.size(); ++lag) {
    const double here = correlation[lag];
    if (here / correlation[0] < line || here < correlation[lag - 1] || here <= correlation[lag + 1])
      continue;
    distances.push_back(static_cast<double>(lag - last));
    last = lag;
  }
  if (distances.size() < 2) return 0;
  const auto middle = distances.begin() + static_cast<ptrdiff_t>(distances.size() / 2);
  std::nth_element(distances.begin(), middle, distances.end());
  return *middle;
}

}  // namespace assay::analysis
