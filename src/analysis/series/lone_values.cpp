// SPDX-License-Identifier: Apache-2.0
#include "lone_values.h"

#include "medians.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

namespace assay::analysis {
namespace {

/// On each side of a value: shorter runs are less than half of all that is looked at.
constexpr size_t kAround = 4;
/// In deviations of the noise.
constexpr double kFar = 8;
/// Of all values.
constexpr double kFew = 0.01;
constexpr size_t kFewest = 4;

double median_around(const std::vector<double>& known, size_t at) {
  std::array<double, 2 * kAround + 1> around{};
  // At an end, all of them are on one side.
  const size_t from = std::min(at - std::min(at, kAround), known.size() - around.size());
  std::copy_n(known.begin() + static_cast<std::ptrdiff_t>(from), around.size(), around.begin());
  return median_of(around);
}

}  // namespace

std::vector<double> without_lone_values(std::vector<double> values) {
  std::vector<size_t> places;
  std::vector<double> known, differences;
  for (size_t i = 0; i < values.size(); ++i)
    if (std::isfinite(values[i])) {
      if (!known.empty()) differences.push_back(std::abs(values[i] - known.back()));
      places.push_back(i);
      known.push_back(values[i]);
    }
  if (known.size() <= 2 * kAround) return values;
  const double far = kFar * deviation_by(differences);
  std::vector<size_t> lone;
  for (size_t i = 0; i < known.size(); ++i)
    if (std::abs(known[i] - median_around(known, i)) > far) lone.push_back(places[i]);
  if (static_cast<double>(lone.size()) > kFew * static_cast<double>(known.size()) &&
      lone.size() > kFewest)
    return values;
  for (const size_t place : lone) values[place] = std::numeric_limits<double>::quiet_NaN();
  return values;
}

}  // namespace assay::analysis
