// SPDX-License-Identifier: Apache-2.0
#include "reading_rules.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include <assay/samples/metric.h>

namespace assay::hooks {
namespace {

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
  const bool usable = !unit.empty() && unit.size() <= kMaxUnit && is_plain_text(unit);
  return usable ? std::optional(base_unit(unit)) : std::nullopt;
}

}  // namespace

Timestamp time_of(double stamp, const Arrival& arrival, Losses& losses) {
  if (std::isnan(stamp)) return arrival.time;
  const double age = seconds(arrival.wall.time_since_epoch()) - stamp;
  if (age > seconds(kMaxAge) || age < -seconds(kMaxAhead)) {
    losses.add(Trouble::bad_time);
    return arrival.time;
  }
  return arrival.time - std::max(Nanoseconds(0), arrival.wall - Timestamp(from_seconds(stamp)));
}

std::optional<Trouble> trouble_with(std::string_view name) {
  if (name.empty() || !is_plain_text(name)) return Trouble::bad_name;
  if (find_metric(name) != nullptr) return Trouble::reserved_name;
  return std::nullopt;
}

Unit first_unit(const Reading& reading) {
  if (const auto told = told_unit(reading)) return *told;
  if (reading.kind == "timer") return {"seconds", 1};
  if (reading.kind == "rate") return {"per second", 1};
  return {};
}

std::optional<double> factor_to(std::string_view unit, double factor, const Reading& reading) {
  const auto told = told_unit(reading);
  if (!told) return factor;
  return told->name == unit ? std::optional(told->factor) : std::nullopt;
}

}  // namespace assay::hooks
