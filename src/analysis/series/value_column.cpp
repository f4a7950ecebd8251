// SPDX-License-Identifier: Apache-2.0
#include "value_column.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <assay/base/letters.h>
#include <assay/base/text.h>

namespace assay::analysis {

namespace {

bool is_in(const auto& words, std::string_view word) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

/// Where something stands; `lat` alone may be a latency, and `long` anything.
bool is_place(const std::vector<std::string>& head, const std::string& name) {
  constexpr std::string_view kSure[] = {"latitude", "longitude", "lon", "lng"};
  constexpr std::string_view kPairs[] = {"lat", "lon", "lng", "long"};
  if (is_in(kSure, name)) return true;
  return is_in(kPairs, name) && std::count_if(head.begin(), head.end(), [&](const auto& other) {
                                  return is_in(kPairs, lower_case(trim(other)));
                                }) > 1;
}

}  // namespace

bool counts_or_names(const std::vector<std::string>& head, size_t place, bool few) {
  constexpr std::string_view kLast[] = {"step",   "steps", "index", "idx", "iteration",
                                        "epoch",  "iter",  "iters", "row", "iterations",
                                        "siteid", "id",    "uuid",  "rank"};
  constexpr std::string_view kWhole[] = {
      "hour",    "hr",           "stunde",       "day",      "tag",     "month",      "year",
      "monat",   "minute",       "doy",          "jahr",     "station", "stationsnr", "site",
      "serial",  "pid",          "plz",          "zip",      "site_no", "station_no", "gpuid",
      "pci.bus", "minor_number", "minor number", "stationid"};
  // Under these may also be how much of it is used.
  constexpr std::string_view kFew[] = {"gpu",     "device",  "node", "core", "host",
                                       "channel", "machine", "rack", "slot", "socket"};
  const std::string name = lower_case(trim(head[place]));
  const auto last = std::string_view(name).substr(name.find_last_of(" _-./:") + 1);
  return is_in(kWhole, name) || is_in(kLast, last) || (few && is_in(kFew, name)) ||
         is_place(head, name);
}

bool are_few(size_t place, CsvRows rows, size_t skipped, const CellReader& reader) {
  constexpr double kLargest = 31;
  std::vector<std::string> cells;
  for (size_t row = 0;; ++row) {
    const auto more = rows.next(cells);
    if (!more || !*more) return true;
    if (row < skipped || place >= cells.size()) continue;
    const auto value = reader.value(cells[place]);
    if (value && std::isfinite(*value) &&
        (*value < 0 || *value > kLargest || *value != std::floor(*value)))
      return false;
  }
}

size_t first_that_varies(const std::vector<size_t>& places, CsvRows rows, size_t skipped,
                         const CellReader& reader) {
  std::vector<std::optional<double>> seen(places.size());
  size_t left = places.size() > 1 ? places.size() : 0;  // of which one may yet be the first
  std::vector<std::string> cells;
  for (size_t row = 0; left > 0; ++row) {
    // What is wrong with the table is told when it is read.
    const auto more = rows.next(cells);
    if (!more || !*more) break;
    if (row < skipped) continue;
    for (size_t i = 0; i < left; ++i) {
      if (places[i] >= cells.size()) continue;
      const auto value = reader.value(cells[places[i]]);
      if (!value || !std::isfinite(*value)) continue;
      if (seen[i] && *seen[i] != *value) left = i;
      seen[i] = value;
    }
  }
  return places[left < places.size() ? left : 0];
}

}  // namespace assay::analysis
