// SPDX-License-Identifier: Apache-2.0
#include "forecast_method.h"

#include <Eigen/Dense>
#include <cmath>
#include <numeric>

namespace assay::analysis {

namespace {

/// Small weights are preferred by so much, as a share of what one lag explains.
constexpr double kRidge = 1e-5;

class Linear final : public ForecastMethod {
 public:
  Linear(std::vector<size_t> lags, std::string name)
      : lags_(std::move(lags)), name_(std::move(name)) {}
  std::string name() const override { return name_; }

  void fit(std::span<const double> series) override {
    series_ = series;
    set_scale(series);
    std::vector<double> scaled(series.size());
    for (size_t i = 0; i < series.size(); ++i) scaled[i] = (series[i] - mean_) / deviation_;
    const auto count = static_cast<Eigen::Index>(lags_.size());
    const size_t longest = lags_.back(), rows = series.size() - longest;
    const Eigen::MatrixXd products = products_of(scaled);
    Eigen::MatrixXd equations(count + 1, count + 1);
    Eigen::VectorXd with_target(count + 1);
    equations.topLeftCorner(count, count) = products.bottomRightCorner(count, count);
    equations.diagonal().array() += kRidge * static_cast<double>(rows);
    for (Eigen::Index i = 0; i < count; ++i)
      equations(count, i) = column(scaled, lags_[static_cast<size_t>(i)]).sum();
    equations(count, count) = static_cast<double>(rows);
    with_target.head(count) = products.col(0).tail(count);
    with_target(count) = column(scaled, 0).sum();
    weights_ = equations.selfadjointView<Eigen::Lower>().ldlt().solve(with_target);
    if (!weights_.allFinite()) weights_.setZero();
  }

  void follow(std::span<const double> series) override { series_ = series; }

  std::vector<double> ahead(size_t horizon) const override {
    const size_t longest = lags_.back();
    const auto last = series_.last(longest);
    std::vector<double> values(longest + horizon);
    for (size_t i = 0; i < longest; ++i) values[i] = (last[i] - mean_) / deviation_;
    for (size_t i = longest; i < values.size(); ++i) {
      double sum = weights_(static_cast<Eigen::Index>(lags_.size()));
      for (size_t j = 0; j < lags_.size(); ++j)
        sum += weights_(static_cast<Eigen::Index>(j)) * values[i - lags_[j]];
      // What it never saw, it cannot tell: ever growing values are an artefact.
      values[i] = std::clamp(sum, lowest_, highest_);
    }
    values.erase(values.begin(), values.begin() + static_cast<ptrdiff_t>(longest));
    for (double& value : values) value = mean_ + deviation_ * value;
    return values;
  }

 private:
  /// The values at a lag, as they stand in memory: the series from another place.
  Eigen::Map<const Eigen::VectorXd> column(const std::vector<double>& scaled, size_t lag) const {
    const size_t longest = lags_.back();
    return {scaled.data() + longest - lag, static_cast<Eigen::Index>(scaled.size() - longest)};
  }

  /// The products of the values at each two lags, of which the first is 0, summed up; only the
  /// lower half. Where both lags are one more than another pair's, the sums differ by their ends.
  Eigen::MatrixXd products_of(const std::vector<double>& scaled) const {
    std::vector<size_t> lags = {0};
    lags.insert(lags.end(), lags_.begin(), lags_.end());
    const auto follows = [&](size_t i) { return i > 0 && lags[i] == lags[i - 1] + 1; };
    const double* first = scaled.data() + lags.back() - 1;
    const double* last = scaled.data() + scaled.size() - 1;
    const auto count = static_cast<Eigen::Index>(lags.size());
    Eigen::MatrixXd products(count, count);
    for (size_t i = 0; i < lags.size(); ++i)
      for (size_t j = 0; j <= i; ++j) {
        const auto row = static_cast<Eigen::Index>(i), col = static_cast<Eigen::Index>(j);
        if (!follows(i) || !follows(j)) {
          products(row, col) = column(scaled, lags[i]).dot(column(scaled, lags[j]));
          continue;
        }
        const auto one = static_cast<ptrdiff_t>(lags[i - 1]),
                   other = static_cast<ptrdiff_t>(lags[j - 1]);
        products(row, col) =
            products(row - 1, col - 1) + first[-one] * first[-other] - last[-one] * last[-other];
      }
    return products;
  }

  void set_scale(std::span<const double> series) {
    const auto n = static_cast<double>(series.size());
    mean_ = std::accumulate(series.begin(), series.end(), 0.0) / n;
    double sum = 0, low = series[0], high = series[0];
    for (const double value : series) {
      sum += (value - mean_) * (value - mean_);
      low = std::min(low, value);
      high = std::max(high, value);
    }
    deviation_ = sum > 0 ? std::sqrt(sum / n) : 1;
    const double margin = 0.5 * (high - low);
    lowest_ = (low - margin - mean_) / deviation_;
    highest_ = (high + margin - mean_) / deviation_;
  }

  const std::vector<size_t> lags_;
  const std::string name_;
  std::span<const double> series_;
  Eigen::VectorXd weights_;
  double mean_ = 0;
  double deviation_ = 1;
  double lowest_ = 0;
  double highest_ = 0;
};

}  // namespace

MethodPtr linear(std::vector<size_t> lags, std::string name) {
  return std::make_unique<Linear>(std::move(lags), std::move(name));
}

}  // namespace assay::analysis
