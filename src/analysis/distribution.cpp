// SPDX-License-Identifier: Apache-2.0
#include "distribution.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace assay::analysis {
namespace {

struct Weighted {
  double value = 0;
  double weight = 0;
};

double percentile(const std::vector<Weighted>& sorted, double total, double share) {
  // A hair less, so that rounding in the running sum cannot push it to the next value.
  const double wanted = share * total * (1 - 1e-12);
  double passed = 0;
  for (const auto& w : sorted) {
    passed += w.weight;
    if (w.weight > 0 && passed >= wanted) return w.value;
  }
  return sorted.back().value;
}

Distribution summary(std::vector<Weighted> values) {
  Distribution d;
  if (values.empty()) return d;
  double total = 0;
  for (const auto& w : values) total += w.weight;
  if (total <= 0) {
    for (auto& w : values) w.weight = 1;
    total = static_cast<double>(values.size());
  }
  std::sort(values.begin(), values.end(),
            [](const Weighted& a, const Weighted& b) { return a.value < b.value; });
  double sum = 0;
  for (const auto& w : values) sum += w.value * (w.weight / total);
  d.min = values.front().value;
  d.peak = values.back().value;
  d.mean = std::clamp(sum, d.min, d.peak);
  d.p50 = percentile(values, total, 0.50);
  d.p95 = percentile(values, total, 0.95);
  d.p99 = percentile(values, total, 0.99);
  d.count = values.size();
  return d;
}

/// The intervals of a shown rate. Where the first one began is no longer known: it is taken to be
/// as long as the second.
std::vector<Interval> shown_rates(const Series& shown, Timestamp from) {
  std::vector<Interval> rates;
  const size_t size = std::min(shown.times.size(), shown.values.size());
  for (size_t i = 0; i < size; ++i) {
    rates.push_back({i > 0 ? shown.times[i - 1] : from, shown.times[i], shown.values[i]});
  }
  if (rates.size() > 1) rates[0].begin = rates[0].end - (rates[1].end - rates[1].begin);
  return rates;
}

std::vector<double> values_between(const Series& events, Timestamp from, Timestamp to) {
  std::vector<double> values;
  const size_t size = std::min(events.times.size(), events.values.size());
  for (size_t i = 0; i < size; ++i) {
    if (events.times[i] >= from && events.times[i] <= to) values.push_back(events.values[i]);
  }
  return values;
}

}  // namespace

Distribution distribution_of(const std::vector<Interval>& intervals, Timestamp from, Timestamp to) {
  std::vector<Weighted> values;
  values.reserve(intervals.size());
  for (const auto& i : intervals) {
    const Nanoseconds inside = std::min(i.end, to) - std::max(i.begin, from);
    const bool touches = i.begin >= from && i.begin <= to && i.end >= i.begin;
    if (!std::isfinite(i.value) || (inside <= Nanoseconds(0) && !touches)) continue;
    values.push_back({i.value, static_cast<double>(std::max(inside, Nanoseconds(0)).count())});
  }
  return summary(std::move(values));
}

Distribution distribution_of(const std::vector<double>& values) {
  std::vector<Weighted> weighted;
  weighted.reserve(values.size());
  for (const double v : values) {
    if (std::isfinite(v)) weighted.push_back({v, 1});
  }
  return summary(std::move(weighted));
}

Distribution single_value(double value, std::string unit, std::string source) {
  return {value, value, value, value, value, value, 1, std::move(unit), std::move(source)};
}

Distribution distribution(const Series& shown, Timestamp from, Timestamp to) {
  Distribution d;
  if (shown.info.kind == Kind::event) {
    d = distribution_of(values_between(shown, from, to));
  } else if (is_rate(shown.info)) {
    d = distribution_of(shown_rates(shown, from), from, to);
  } else {
    d = distribution_of(intervals_of(shown, to), from, to);
  }
  d.unit = shown.info.unit;
  d.source = shown.info.source;
  return d;
}

const Distribution* find(const Lines& list, const std::string& name) {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const auto& line) { return line.first == name; });
  return found == list.end() ? nullptr : &found->second;
}

std::optional<double> statistic(const Distribution& d, const std::string& name) {
  const std::array<std::pair<std::string_view, double>, 6> known = {{{"mean", d.mean},
                                                                     {"p50", d.p50},
                                                                     {"p95", d.p95},
                                                                     {"p99", d.p99},
                                                                     {"peak", d.peak},
                                                                     {"min", d.min}}};
  for (const auto& [key, value] : known) {
    if (key == name) return value;
  }
  return std::nullopt;
}

}  // namespace assay::analysis
