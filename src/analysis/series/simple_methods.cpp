// SPDX-License-Identifier: Apache-2.0
#include "forecast_method.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

namespace assay::analysis {

namespace {

class SameAsLast final : public ForecastMethod {
 public:
  explicit SameAsLast(size_t season) : season_(season) {}
  std::string name() const override {
    return season_ == 1 ? "last value" : fmt::format("{} samples ago", season_);
  }
  void fit(std::span<const double>) override {}
  std::vector<double> ahead(std::span<const double> series, size_t horizon) const override {
    std::vector<double> values(horizon);
    for (size_t i = 0; i < horizon; ++i) values[i] = series[series.size() - season_ + i % season_];
    return values;
  }

 private:
  const size_t season_;
};

class MeanOfLast final : public ForecastMethod {
 public:
  explicit MeanOfLast(size_t count) : count_(count) {}
  std::string name() const override { return fmt::format("mean of the last {}", count_); }
  void fit(std::span<const double>) override {}
  std::vector<double> ahead(std::span<const double> series, size_t horizon) const override {
    const auto last = series.last(std::min(count_, series.size()));
    const double sum = std::accumulate(last.begin(), last.end(), 0.0);
    return std::vector<double>(horizon, sum / static_cast<double>(last.size()));
  }

 private:
  const size_t count_;
};

class MedianOfLast final : public ForecastMethod {
 public:
  explicit MedianOfLast(size_t count) : count_(count) {}
  std::string name() const override { return fmt::format("median of the last {}", count_); }
  void fit(std::span<const double>) override {}
  std::vector<double> ahead(std::span<const double> series, size_t horizon) const override {
    const auto last = series.last(std::min(count_, series.size()));
    std::vector<double> values(last.begin(), last.end());
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return std::vector<double>(horizon, *middle);
  }

 private:
  const size_t count_;
};

class OnLogarithms final : public ForecastMethod {
 public:
  explicit OnLogarithms(MethodPtr method) : method_(std::move(method)) {}
  std::string name() const override { return method_->name() + ", in proportion"; }
  void fit(std::span<const double> series) override { method_->fit(logarithms(series)); }
  std::vector<double> ahead(std::span<const double> series, size_t horizon) const override {
    auto values = method_->ahead(logarithms(series), horizon);
    for (double& value : values) value = std::exp(std::min(value, 700.0));
    return values;
  }

 private:
  static std::vector<double> logarithms(std::span<const double> series) {
    std::vector<double> result(series.size());
    std::transform(series.begin(), series.end(), result.begin(),
                   [](double value) { return std::log(value); });
    return result;
  }

  const MethodPtr method_;
};

}  // namespace

MethodPtr same_as_last(size_t season) {
  return std::make_unique<SameAsLast>(season);
}
MethodPtr mean_of_last(size_t count) {
  return std::make_unique<MeanOfLast>(count);
}
MethodPtr median_of_last(size_t count) {
  return std::make_unique<MedianOfLast>(count);
}
MethodPtr on_logarithms(MethodPtr method) {
  return std::make_unique<OnLogarithms>(std::move(method));
}

}  // namespace assay::analysis
