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
    set_scale(series);
    std::vector<double> scaled(series.size());
    for (size_t i = 0; i < series.size(); ++i) scaled[i] = (series[i] - mean_) / deviation_;
    const size_t longest = lags_.back(), rows = series.size() - longest;
    const auto count = static_cast<Eigen::Index>(lags_.size());
    // Columns that stand in memory already: a lag is the series from another place.
    const auto column = [&](size_t lag) {
      return Eigen::Map<const Eigen::VectorXd>(scaled.data() + longest - lag,
                                               static_cast<Eigen::Index>(rows));
    };
    const auto target = column(0);
    Eigen::MatrixXd products(count + 1, count + 1);
    Eigen::VectorXd with_target(count + 1);
    for (Eigen::Index i = 0; i < count; ++i) {
      const auto left = column(lags_[static_cast<size_t>(i)]);
      for (Eigen::Index j = 0; j <= i; ++j)
        products(i, j) = left.dot(column(lags_[static_cast<size_t>(j)]));
      products(count, i) = left.sum();
      with_target(i) = left.dot(target);
    }
    products(count, count) = static_cast<double>(rows);
    with_target(count) = target.sum();
    for (Eigen::Index i = 0; i < count; ++i) products(i, i) += kRidge * static_cast<double>(rows);
    weights_ = products.selfadjointView<Eigen::Lower>().ldlt().solve(with_target);
    if (!weights_.allFinite()) weights_.setZero();
  }

  std::vector<double> ahead(std::span<const double> series, size_t horizon) const override {
    const size_t longest = lags_.back();
    std::vector<double> values(longest + horizon);
    for (size_t i = 0; i < longest; ++i)
      values[i] = (series[series.size() - longest + i] - mean_) / deviation_;
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
