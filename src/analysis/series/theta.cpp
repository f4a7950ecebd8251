// SPDX-License-Identifier: Apache-2.0
#include "forecast_method.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace assay::analysis {

namespace {

/// The mean distance from the moving mean over a season, for each phase of it.
std::vector<double> profile(std::span<const double> series, size_t season) {
  std::vector<double> sums(series.size() + 1);
  for (size_t i = 0; i < series.size(); ++i) sums[i + 1] = sums[i] + series[i];
  std::vector<double> mean(season), count(season);
  const size_t half = season / 2;
  for (size_t i = half; i + half < series.size(); ++i) {
    // Of an even season, the values at both ends count half.
    const double ends = season % 2 ? 0 : 0.5 * (series[i - half] + series[i + half]);
    const double inner =
        season % 2 ? sums[i + half + 1] - sums[i - half] : sums[i + half] - sums[i - half + 1];
    mean[i % season] += series[i] - (inner + ends) / static_cast<double>(season);
    ++count[i % season];
  }
  double whole = 0;
  for (size_t phase = 0; phase < season; ++phase) {
    if (count[phase] > 0) mean[phase] /= count[phase];
    whole += mean[phase] / static_cast<double>(season);
  }
  for (double& value : mean) value -= whole;
  return mean;
}

class Theta final : public ForecastMethod {
 public:
  explicit Theta(size_t season) : season_(season) {}
  std::string name() const override {
    return season_ > 1 ? fmt::format("Theta with a season of {}", season_) : "Theta";
  }

  void fit(std::span<const double> series) override {
    profile_ = season_ > 1 ? profile(series, season_) : std::vector<double>(1);
    const auto plain = without_season(series, 0);
    rate_ = best_rate(plain);
    slope_ = slope_of(plain);
    level_ = plain.front();
    seen_ = 1;
    follow(series);
  }

  void follow(std::span<const double> series) override {
    for (const double value : without_season(series, seen_)) level_ += rate_ * (value - level_);
    seen_ = series.size();
  }

  std::vector<double> ahead(size_t horizon) const override {
    std::vector<double> values(horizon);
    size_t phase = seen_ % profile_.size();
    for (size_t i = 0; i < horizon; ++i) {
      values[i] = level_ + 0.5 * slope_ * (static_cast<double>(i) + 1 / rate_) + profile_[phase];
      if (++phase == profile_.size()) phase = 0;
    }
    return values;
  }

 private:
  std::vector<double> without_season(std::span<const double> series, size_t from) const {
    std::vector<double> plain;
    plain.reserve(series.size() - from);
    size_t phase = from % profile_.size();
    for (size_t i = from; i < series.size(); ++i) {
      plain.push_back(series[i] - profile_[phase]);
      if (++phase == profile_.size()) phase = 0;
    }
    return plain;
  }

  /// The rate with the least errors one value ahead. All are tried side by side: each has to wait
  /// for its own last level only.
  static double best_rate(const std::vector<double>& plain) {
    constexpr size_t kRates = 14;
    std::array<double, kRates> rate{}, level{}, error{};
    for (size_t r = 0; r < kRates; ++r) rate[r] = 0.02 + 0.07 * static_cast<double>(r);
    level.fill(plain.front());
    for (size_t i = 1; i < plain.size(); ++i)
      for (size_t r = 0; r < kRates; ++r) {
        const double miss = plain[i] - level[r];
        error[r] += miss * miss;
        level[r] += rate[r] * miss;
      }
    return rate[static_cast<size_t>(std::min_element(error.begin(), error.end()) - error.begin())];
  }

  static double slope_of(const std::vector<double>& plain) {
    const double middle = (static_cast<double>(plain.size()) - 1) / 2;
    double xy = 0, xx = 0;
    for (size_t i = 0; i < plain.size(); ++i) {
      const double x = static_cast<double>(i) - middle;
      xy += x * plain[i];
      xx += x * x;
    }
    return xx > 0 ? xy / xx : 0;
  }

  const size_t season_;
  std::vector<double> profile_{0};
  double rate_ = 0.1;
  double slope_ = 0;
  double level_ = 0;
  size_t seen_ = 0;
};

}  // namespace

MethodPtr theta(size_t season) {
  return std::make_unique<Theta>(season);
}

}  // namespace assay::analysis
