// SPDX-License-Identifier: Apache-2.0
#include "recorder.h"

#include <algorithm>
#include <cmath>

#include <assay/samples/metric.h>

namespace assay::hooks {
namespace {

Timestamp time_of(const Reading& reading, Timestamp now, Losses& losses) {
  if (std::isnan(reading.time)) return now;
  const double age = seconds(now.time_since_epoch()) - reading.time;
  if (age > seconds(Recorder::kMaxAge) || age < -seconds(Recorder::kMaxAhead)) {
    losses.add(Trouble::bad_time);
    return now;
  }
  return Timestamp(from_seconds(reading.time));
}

std::string unit_of(const Reading& reading) {
  const std::string_view unit = reading.unit;
  if (!unit.empty() && unit.size() <= Recorder::kMaxUnit && is_plain_text(unit)) {
    return std::string(unit);
  }
  if (reading.kind == "timer") return "seconds";
  if (reading.kind == "rate") return "per second";
  return {};
}

}  // namespace

void Recorder::record(const Reading& reading, const Caller& caller, Timestamp now, Losses& losses) {
  Name* name = find_or_add(reading.name, losses);
  if (name == nullptr) return;
  OwnSeries& series = series_of(*name, reading, caller);
  series.last = std::max(series.last, time_of(reading, now, losses));
  *name->latest = reading.value;
  sink_.sample(series.id, series.last, reading.value);
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
  info.unit = unit_of(reading);
  info.kind = Kind::event;
  info.source = shared ? "reported by several processes" : caller.source;
  name.series.push_back({shared ? -1 : caller.pid, sink_.declare(info), {}});
  return name.series.back();
}

}  // namespace assay::hooks
