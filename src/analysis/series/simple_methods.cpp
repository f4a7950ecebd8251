// SPDX-License-Identifier: Apache-2.0
#include "forecast_method.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

namespace assay::analysis {

namespace {

/// Those that look at the last values and learn nothing.
class OfLastValues : public ForecastMethod {
 public:
  void fit(std::span<const double> series) final { series_ = series; }
  void follow(std::span<const double> series) final { series_ = series; }

 protected:
  std::span<const double> last(size_t count) const {
    return series_.last(std::min(count, series_.size()));
  }

 private:
  std::span<const double> series_;
};

class SameAsLast final : public OfLastValues {
 public:
  explicit SameAsLast(size_t season) : season_(season) {}
  std::string name() const override {
    return season_ == 1 ? "last value" : fmt::format("{} samples ago", season_);
  }
  std::vector<double> ahead(size_t horizon) const override {
    const auto turn = last(season_);
    std::vector<double> values(horizon);
    for (size_t i = 0; i < horizon; ++i) values[i] = turn[i % turn.size()];
    return values;
  }

 private:
  const size_t season_;
};

class MeanOfLast final : public OfLastValues {
 public:
  explicit MeanOfLast(size_t count) : count_(count) {}
  std::string name() const override { return fmt::format("mean of the last {}", count_); }
  std::vector<double> ahead(size_t horizon) const override {
    const auto values = last(count_);
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    return std::vector<double>(horizon, sum / static_cast<double>(values.size()));
  }

 private:
  const size_t count_;
};

class MedianOfLast final : public OfLastValues {
 public:
  explicit MedianOfLast(size_t count) : count_(count) {}
  std::string name() const override { return fmt::format("median of the last {}", count_); }
  std::vector<double> ahead(size_t horizon) const override {
    const auto seen = last(count_);
    std::vector<double> values(seen.begin(), seen.end());
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return std::vector<double>(horizon, *middle);
  }

 private:
  const size_t count_;
};

class OnLogarithms final : public ForecastMethod {
 public:
  OnLogarithms(MethodPtr method, Logarithms logarithms)
      : method_(std::move(method)), logarithms_(std::move(logarithms)) {}
  std::string name() const override { return method_->name() + ", in proportion"; }
  void fit(std::span<const double> series) override { method_->fit(of(series)); }
  void follow(std::span<const double> series) override { method_->follow(of(series)); }
  std::vector<double> ahead(size_t horizon) const override {
    auto values = method_->ahead(horizon);
    for (double& value : values) value = std::exp(std::min(value, 700.0));
    return values;
  }

 private:
  std::span<const double> of(std::span<const double> series) const {
    return std::span(*logarithms_).first(series.size());
  }

  const MethodPtr method_;
  const Logarithms logarithms_;
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
Logarithms logarithms_of(std::span<const double> series) {
  std::vector<double> result(series.size());
  std::transform(series.begin(), series.end(), result.begin(),
                 [](double value) { return std::log(value); });
  return std::make_shared<const std::vector<double>>(std::move(result));
}
MethodPtr on_logarithms(MethodPtr method, Logarithms logarithms) {
  return std::make_unique<OnLogarithms>(std::move(method), std::move(logarithms));
}

}  // namespace assay::analysis
