// SPDX-License-Identifier: Apache-2.0
#include "recorder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <tuple>

#include <assay/samples/metric.h>

namespace assay::hooks {
namespace {

Timestamp time_of(const Reading& reading, const Arrival& arrival, Losses& losses) {
  if (std::isnan(reading.time)) return arrival.time;
  const double age = seconds(arrival.wall.time_since_epoch()) - reading.time;
  if (age > seconds(Recorder::kMaxAge) || age < -seconds(Recorder::kMaxAhead)) {
    losses.add(Trouble::bad_time);
    return arrival.time;
  }
  const Timestamp stamp(from_seconds(reading.time));
  return arrival.time - std::max(Nanoseconds(0), arrival.wall - stamp);
}

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

struct Unit {
  std::string_view name;
  double factor = 1;  ///< what one of the client's units is in this one
};

/// Everything is kept in base units; a unit that is none of time or bytes is kept as it was told.
Unit base_unit(std::string_view told) {
  constexpr std::array<std::tuple<std::string_view, std::string_view, double>, 15> kKnown = {
      {{"s", "seconds", 1},
       {"sec", "seconds", 1},
       {"ms", "seconds", 1e-3},
       {"milliseconds", "seconds", 1e-3},
       {"us", "seconds", 1e-6},
       {"µs", "seconds", 1e-6},
       {"ns", "seconds", 1e-9},
       {"B", "bytes", 1},
       {"kB", "bytes", 1e3},
       {"KB", "bytes", 1e3},
       {"MB", "bytes", 1e6},
       {"GB", "bytes", 1e9},
       {"KiB", "bytes", 1024},
       {"MiB", "bytes", 1048576},
       {"GiB", "bytes", 1073741824}}};
  for (const auto& [written, unit, factor] : kKnown) {
    if (written == told) return {unit, factor};
  }
  return {told, 1};
}

std::optional<Unit> told_unit(const Reading& reading) {
  const std::string_view unit = reading.unit;
  const bool usable = !unit.empty() && unit.size() <= Recorder::kMaxUnit && is_plain_text(unit);
  return usable ? std::optional(base_unit(unit)) : std::nullopt;
}

Unit first_unit(const Reading& reading) {
  if (const auto told = told_unit(reading)) return *told;
  if (reading.kind == "timer") return {"seconds", 1};
  if (reading.kind == "rate") return {"per second", 1};
  return {};
}

/// From the reading's unit to the series'; nothing when they do not belong together. A client may
/// tell the unit only once.
std::optional<double> factor_to(const std::string& unit, double factor, const Reading& reading) {
  const auto told = told_unit(reading);
  if (!told) return factor;
  return told->name == unit ? std::optional(told->factor) : std::nullopt;
}

}  // namespace

void Recorder::record(const Reading& reading, const Caller& caller, const Arrival& arrival,
                      Losses& losses) {
  Name* name = find_or_add(reading.name, losses);
  if (name == nullptr) return;
  OwnSeries& series = series_of(*name, reading, caller);
  const auto factor = factor_to(series.unit, series.factor, reading);
  if (!factor) return losses.add(Trouble::other_unit);
  series.last = std::max(series.last, time_of(reading, arrival, losses));
  const double plain = reading.value * *factor;
  const double value = series.unit == "seconds" ? without_noise(plain) : plain;
  *name->latest = value;
  sink_.sample(series.id, series.last, value);
}

Recorder::Name* Recorder::find_or_add(std::string_view name, Losses& losses) {
  if (const auto found = names_.find(name); found != names_.end()) return &found->second;
  if (name.empty() || !is_plain_text(name)) {
    losses.add(Trouble::bad_name);
  } else if (find_metric(name) != nullptr) {
    losses.add(Trouble::reserved_name);
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
