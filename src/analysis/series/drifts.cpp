// SPDX-License-Identifier: Apache-2.0
#include "drifts.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace assay::analysis {

namespace {

/// A curve has so many coefficients at most, and each of those beside a step.
constexpr size_t kMost = 5, kMostBeside = 3;
/// So many levels on both sides of a change are around it.
constexpr size_t kAround = 3;

/// What polynomials in time of 1 to kMost coefficients leave unexplained of some values.
using Rests = std::array<double, kMost>;

Rests rests_of(const std::vector<double>& values, const std::vector<size_t>& places, size_t from,
               size_t to) {
  const double middle = 0.5 * static_cast<double>(places[from] + places[to - 1]);
  const double half = std::max(0.5, 0.5 * static_cast<double>(places[to - 1] - places[from]));
  std::array<std::vector<double>, kMost> basis;
  std::vector<double> left(values.begin() + static_cast<ptrdiff_t>(from),
                           values.begin() + static_cast<ptrdiff_t>(to));
  Rests rests{};
  for (size_t k = 0; k < kMost; ++k) {
    auto& own = basis[k];
    own.resize(left.size());
    for (size_t i = 0; i < own.size(); ++i)
      own[i] = k ? basis[k - 1][i] * (static_cast<double>(places[from + i]) - middle) / half : 1;
    const auto take = [&](std::vector<double>& what, const std::vector<double>& off) {
      double product = 0, square = 0;
      for (size_t i = 0; i < off.size(); ++i) {
        product += what[i] * off[i];
        square += off[i] * off[i];
      }
      if (!(square > 1e-9)) return;
      for (size_t i = 0; i < off.size(); ++i) what[i] -= product / square * off[i];
    };
    for (size_t before = 0; before < k; ++before) take(own, basis[before]);
    take(left, own);
    for (const double value : left) rests[k] += value * value;
  }
  return rests;
}

class Candidates {
 public:
  Candidates(std::vector<size_t> ends, const std::vector<double>& values,
             const std::vector<size_t>& places, double variance)
      : all_(ends), ends_(std::move(ends)), values_(values), places_(places), variance_(variance) {}

  std::vector<size_t> kept() {
    std::vector<double> gains(ends_.size());
    for (size_t i = 0; i + 1 < ends_.size(); ++i) gains[i] = gain(i);
    while (ends_.size() > 1) {
      const auto least = std::min_element(gains.begin(), gains.end() - 1);
      if (*least > 0) break;
      const auto at = static_cast<size_t>(least - gains.begin());
      ends_.erase(ends_.begin() + static_cast<ptrdiff_t>(at));
      gains.erase(least);
      for (size_t i = std::max<size_t>(at, 1) - 1; i <= at && i + 1 < ends_.size(); ++i)
        gains[i] = gain(i);
    }
    return ends_;
  }

 private:
  /// By how much a step explains the values around better than any curve does.
  double gain(size_t i) const {
    const size_t at = ends_[i];
    const auto place = std::lower_bound(all_.begin(), all_.end(), at) - all_.begin();
    const auto near = static_cast<size_t>(place);
    size_t from = i ? ends_[i - 1] : 0;
    if (near > kAround) from = std::max(from, all_[near - 1 - kAround]);
    const size_t to = std::min(ends_[i + 1], all_[std::min(all_.size() - 1, near + kAround)]);
    const double each = std::log(static_cast<double>(to - from));
    const auto cost = [&](double rest, size_t numbers) {
      return rest / variance_ + each * static_cast<double>(numbers);
    };
    const auto curve = rests_of(values_, places_, from, to);
    const auto before = rests_of(values_, places_, from, at);
    const auto after = rests_of(values_, places_, at, to);
    double step = cost(before[0] + after[0], 3);
    for (size_t k = 1; k < kMostBeside; ++k)
      step = std::min(step, cost(before[k] + after[k], 2 * k + 3));
    double smooth = cost(curve[1], 2);
    for (size_t k = 2; k < kMost; ++k) smooth = std::min(smooth, cost(curve[k], k + 1));
    return smooth - step;
  }

  std::vector<size_t> all_, ends_;
  const std::vector<double>& values_;
  const std::vector<size_t>& places_;
  double variance_;
};

}  // namespace

std::vector<size_t> without_drifts(std::vector<size_t> ends, const std::vector<double>& values,
                                   const std::vector<size_t>& places, double variance) {
  return Candidates(std::move(ends), values, places, variance).kept();
}

}  // namespace assay::analysis
