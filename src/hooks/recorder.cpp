// SPDX-License-Identifier: Apache-2.0
#include "recorder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace assay::hooks {
namespace {

/// Five digits, or milliseconds where that is finer, and none behind the nanosecond: what is behind
/// them is noise of the app's clock that would fill most of the history.
double without_noise(double seconds) {
  constexpr std::array<double, 6> kPowers = {1e9, 1e8, 1e7, 1e6, 1e5, 1e4};
  const double size = std::abs(seconds);
  for (const double power : kPowers) {
    if (size * power < 1e5) return std::nearbyint(seconds * power) / power;
  }
  return size < 1e12 ? std::nearbyint(seconds * 1e3) / 1e3 : seconds;
}

}  // namespace

void Recorder::record(const Reading& reading, const Caller& caller, const Arrival& arrival,
                      Losses& losses) {
  Name* name = find_or_add(reading.name, losses);
  if (name == nullptr) return;
  OwnSeries& series = series_of(*name, reading, caller);
  const auto factor = factor_to(series.unit, series.factor, reading);
  if (!factor) return losses.add(Trouble::other_unit);
  series.last = std::max(series.last, time_of(reading.time, arrival, losses));
  const double plain = reading.value * *factor;
  const double value = series.unit == "seconds" ? without_noise(plain) : plain;
  *name->latest = value;
  sink_.sample(series.id, series.last, value);
}

Recorder::Name* Recorder::find_or_add(std::string_view name, Losses& losses) {
  if (const auto found = names_.find(name); found != names_.end()) return &found->second;
  if (const auto trouble = trouble_with(name)) {
    losses.add(*trouble);
  } else if (names_.size() >= max_names_) {
    losses.add(Trouble::too_many_names);
  } else {
    Name& added = names_[std::string(name)];
    added.latest = &latest_[std::string(name)];
    return &added;
  }
  return nullptr;
}

Recorder::OwnSeries& Recorder::series_of(Name& name, const Reading& reading, const Caller& caller) {
  const bool full = name.series.size() > kCallersPerName;
  const auto found = std::find_if(name.series.begin(), name.series.end(),
                                  [&](const OwnSeries& s) { return s.pid == caller.pid; });
  if (found != name.series.end()) return *found;
  if (full) return name.series.back();
  const bool shared = name.series.size() == kCallersPerName;
  SeriesInfo info;
  info.name = reading.name;
  const Unit unit = first_unit(reading);
  info.unit = unit.name;
  info.kind = Kind::event;
  if (reading.kind == "counter") info.labels = {{"kind", "counter"}};
  info.source = shared ? "reported by several processes" : caller.source;
  name.series.push_back(
      {shared ? -1 : caller.pid, sink_.declare(info), {}, unit.factor, info.unit});
  return name.series.back();
}

}  // namespace assay::hooks
