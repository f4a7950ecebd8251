// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <string_view>

#include <assay/analysis/run_analysis.h>
#include <assay/base/text.h>
#include <assay/base/time.h>

namespace assay::analysis {
namespace {

constexpr std::array<std::string_view, 4> kHertz = {"Hz", "kHz", "MHz", "GHz"};

std::string in_seconds(double value) {
  if (value == 0) return "0 s";
  // Beyond what nanoseconds in 64 bits can hold.
  if (std::abs(value) > 9e9) return format_number(value) + " s";
  return format_duration(from_seconds(value));
}

std::string in_hertz(double value) {
  size_t unit = 0;
  while (std::abs(value) >= 999.5 && unit + 1 < kHertz.size()) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{} {}", format_number(value), kHertz[unit]);
}

}  // namespace

std::string format_value(double value, const std::string& unit) {
  if (!std::isfinite(value)) return "unknown";
  if (unit == "seconds") return in_seconds(value);
  if (unit == "bytes") return format_bytes(value);
  if (unit == "bytes per second") return format_bytes(value) + "/s";
  if (unit == "ratio") return format_number(value * 100) + " %";
  if (unit == "celsius") return format_number(value) + " °C";
  if (unit == "hertz") return in_hertz(value);
  if (unit == "watts") return format_number(value) + " W";
  if (unit == "joules") return format_number(value) + " J";
  return format_number(value);
}

}  // namespace assay::analysis
