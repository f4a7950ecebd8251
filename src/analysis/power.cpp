// SPDX-License-Identifier: Apache-2.0
#include "power.h"

#include "distribution.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <iterator>
#include <string_view>

#include <assay/base/letters.h>

namespace assay::analysis {
namespace {

/// Sensors at the supply of a whole board, as Jetsons name their input rails.
constexpr std::array<std::string_view, 4> kSupplies = {"vdd_in", "pom_5v_in", "pom_in", "sys_in"};

struct Meter {
  const Series* series = nullptr;
  std::string domain;  ///< of RAPL; "package-0/core" is a part of "package-0"
  std::string chip;
  std::string sensor;
  bool battery = false;
};

Meter meter_of(const Series& series) {
  Meter m;
  m.series = &series;
  for (const auto& [key, value] : series.info.labels) {
    if (key == "domain") m.domain = lower_case(value);
    if (key == "chip") m.chip = lower_case(value);
    if (key == "sensor") m.sensor = lower_case(value);
    if (key == "battery") m.battery = true;
  }
  return m;
}

std::vector<Meter> meters_in(const std::vector<Series>& recorded) {
  std::vector<Meter> meters;
  for (const auto& s : recorded) {
    const bool power = s.info.name == "energy_joules_total" || s.info.name == "power_watts";
    if (power && s.info.scope == Scope::node && s.info.kind != Kind::event) {
      meters.push_back(meter_of(s));
    }
  }
  return meters;
}

std::string source_of(const std::vector<Meter>& meters) {
  std::vector<std::string> domains;
  for (const auto& m : meters) {
    if (!m.domain.empty()) domains.push_back(m.domain);
  }
  if (domains.empty()) return meters.front().series->info.source;
  return fmt::format("RAPL {}", fmt::join(domains, " + "));
}

std::optional<Distribution> sum_of(const std::vector<Meter>& meters, Timestamp from, Timestamp to,
                                   std::string_view what) {
  if (meters.empty()) return std::nullopt;
  std::vector<std::vector<Interval>> parts;
  parts.reserve(meters.size());
  for (const auto& m : meters) parts.push_back(intervals_of(*m.series, to));
  Distribution d = distribution_of(combine(parts, Combine::sum), from, to);
  if (d.count == 0) return std::nullopt;
  d.unit = "watts";
  d.source = fmt::format("{}: {}", what, source_of(meters));
  return d;
}

std::optional<Distribution> highest_of(const std::vector<Meter>& meters, Timestamp from,
                                       Timestamp to) {
  std::optional<Distribution> highest;
  for (const auto& m : meters) {
    auto d = sum_of({m}, from, to, "one meter of the node");
    if (d && (!highest || d->mean > highest->mean)) highest = std::move(d);
  }
  return highest;
}

bool is_platform(const Meter& m) {
  return m.domain.starts_with("psys");
}

bool is_supply(const Meter& m) {
  return m.chip.starts_with("power_meter") ||
         std::find(kSupplies.begin(), kSupplies.end(), m.sensor) != kSupplies.end();
}

bool is_package(const Meter& m) {
  return m.domain.starts_with("package") && m.domain.find('/') == std::string::npos;
}

bool is_socket(const Meter& m) {
  return m.chip == "amd_energy" && m.sensor.starts_with("esocket");
}

bool is_battery(const Meter& m) {
  return m.battery;
}

bool is_other(const Meter& m) {
  return !m.battery;
}

}  // namespace

std::optional<Distribution> power_of(const std::vector<Series>& recorded, Timestamp from,
                                     Timestamp to) {
  const auto meters = meters_in(recorded);
  const auto those = [&](bool (*wanted)(const Meter&)) {
    std::vector<Meter> found;
    std::copy_if(meters.begin(), meters.end(), std::back_inserter(found), wanted);
    return found;
  };
  for (const auto wanted : {is_platform, is_supply, is_package, is_socket}) {
    if (auto d = sum_of(those(wanted), from, to, "whole node")) return d;
  }
  if (auto d = highest_of(those(is_other), from, to)) return d;
  // A full battery on mains shows 0 W, which says nothing about the node.
  if (auto d = sum_of(those(is_battery), from, to, "whole node"); d && d->peak > 0) return d;
  return std::nullopt;
}

}  // namespace assay::analysis
