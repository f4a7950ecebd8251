// SPDX-License-Identifier: Apache-2.0
#include "trial_told.h"

#include "log_rate.h"

#include <algorithm>
#include <cmath>

namespace assay::cluster {
namespace {

constexpr const char* kCpu = "cpu_usage_seconds_total";
constexpr const char* kMemory = "memory_bytes";

/// Of a counter, by its first and last value.
std::optional<double> slope_of(const std::vector<LogNumber>& numbers) {
  if (numbers.empty() || numbers.back().time <= numbers.front().time) return std::nullopt;
  return (numbers.back().value - numbers.front().value) /
         seconds(numbers.back().time - numbers.front().time);
}

std::optional<double> most_of(const std::vector<LogNumber>& numbers) {
  std::optional<double> most;
  for (const auto& one : numbers) most = std::max(most.value_or(0), one.value);
  return most;
}

void add(std::optional<double>& sum, const std::optional<double>& value) {
  if (value) sum = sum.value_or(0) + *value;
}

/// Errors of several pods do not depend on each other.
void add(std::optional<Estimate>& sum, const std::optional<Estimate>& rate) {
  if (!rate) return;
  const Estimate before = sum.value_or(Estimate());
  const double value = before.value + rate->value;
  const double sd = std::hypot(before.value * before.sd, rate->value * rate->sd);
  sum = Estimate{value, value > 0 ? sd / value : 0};
}

std::vector<LogNumber> within(const Series& series, Timestamp from, Timestamp to) {
  std::vector<LogNumber> numbers;
  for (size_t i = 0; i < series.times.size(); ++i)
    if (series.times[i] >= from && series.times[i] <= to)
      numbers.push_back({series.times[i], series.values[i]});
  return numbers;
}

bool is_counter(const SeriesInfo& info) {
  return std::any_of(info.labels.begin(), info.labels.end(), [](const auto& label) {
    return label.first == "kind" && label.second == "counter";
  });
}

}  // namespace

SeriesId TrialSink::declare(const SeriesInfo& info) {
  const SeriesId id = recorder_->declare(info);
  const auto index = static_cast<size_t>(id);
  if (index >= series_.size()) series_.resize(index + 1);
  series_[index].info = info;
  return id;
}

void TrialSink::sample(SeriesId id, Timestamp time, double value) {
  recorder_->sample(id, time, value);
  Series& series = series_[static_cast<size_t>(id)];
  const bool reported = series.info.kind == Kind::event;
  const std::string& name = series.info.name;
  if (reported ? name != metric_ : name != kCpu && name != kMemory) return;
  series.times.push_back(time);
  series.values.push_back(value);
}

void TrialSink::tell(Timestamp from, Timestamp to, Told& told) const {
  for (const auto& series : series_) {
    const auto numbers = within(series, from, to);
    if (series.info.kind == Kind::event)
      add(told.throughput, rate_of(numbers, is_counter(series.info), from, to));
    else if (series.info.name == kCpu)
      add(told.cores, slope_of(numbers));
    else if (series.info.name == kMemory)
      add(told.memory_bytes, most_of(numbers));
  }
}

}  // namespace assay::cluster
