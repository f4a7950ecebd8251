// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <string_view>
#include <time.h>

#include <assay/base/text.h>
#include <assay/base/time.h>

namespace assay {
namespace {

Nanoseconds read_clock(clockid_t id) {
  timespec ts{};
  clock_gettime(id, &ts);
  return std::chrono::seconds(ts.tv_sec) + Nanoseconds(ts.tv_nsec);
}

struct DurationUnit {
  std::string_view name;
  double ns;
};
constexpr std::array<DurationUnit, 14> kDurationUnits = {{{"ns", 1},
                                                          {"us", 1e3},
                                                          {"µs", 1e3},
                                                          {"ms", 1e6},
                                                          {"s", 1e9},
                                                          {"sec", 1e9},
                                                          {"second", 1e9},
                                                          {"seconds", 1e9},
                                                          {"m", 60e9},
                                                          {"min", 60e9},
                                                          {"minutes", 60e9},
                                                          {"h", 3600e9},
                                                          {"hours", 3600e9},
                                                          {"d", 86400e9}}};
constexpr double kLongestNs = 3650.0 * 86400e9;

}  // namespace

SystemClock::SystemClock() : offset_(read_clock(CLOCK_REALTIME) - read_clock(CLOCK_MONOTONIC)) {}

Timestamp SystemClock::now() const {
  return Timestamp(read_clock(CLOCK_MONOTONIC) + offset_);
}

Timestamp SystemClock::wall() const {
  return Timestamp(read_clock(CLOCK_REALTIME));
}

Result<Nanoseconds> parse_duration(const std::string& text, Nanoseconds bare_unit) {
  const std::string_view all = trim(text);
  const size_t digits = all.find_first_not_of("0123456789.eE+-");
  const std::string_view unit = digits == all.npos ? "" : trim(all.substr(digits));
  const auto number = parse_double(trim(all.substr(0, digits)));
  double scale = static_cast<double>(bare_unit.count());
  bool known = unit.empty();
  for (const auto& u : kDurationUnits) {
    if (u.name == unit) {
      scale = u.ns;
      known = true;
    }
  }
  if (!number || !known || *number < 0 || *number * scale > kLongestNs) {
    return bad_input(
        fmt::format("'{}' is not a duration; write for example 500ms, 90s or 2m", text));
  }
  return Nanoseconds(static_cast<int64_t>(std::llround(*number * scale)));
}

std::string format_duration(Nanoseconds d) {
  const double s = seconds(d);
  if (s < 0) return "-" + format_duration(-d);
  if (s < 1e-3) return fmt::format("{:.3g} µs", s * 1e6);
  if (s < 1) return fmt::format("{:.3g} ms", s * 1e3);
  if (s < 60) return fmt::format("{:.3g} s", s);
  const auto whole = static_cast<int64_t>(std::llround(s));
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

namespace {

/// ".123456789" from `at`, which is moved behind it.
Nanoseconds decimals_at(const std::string& text, size_t& at) {
  int64_t value = 0;
  if (at >= text.size() || text[at] != '.') return Nanoseconds(0);
  int64_t scale = 1'000'000'000;
  for (++at; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
    scale /= 10;
    value += scale * (text[at] - '0');
  }
  return Nanoseconds(value);
}

/// "Z" or "+01:00" at the end of a time.
std::optional<std::chrono::minutes> offset_in(const std::string& zone) {
  if (zone == "Z") return std::chrono::minutes(0);
  int hours = 0;
  int minutes = 0;
  char end = 0;
  const bool signed_zone = zone.size() == 6 && (zone[0] == '+' || zone[0] == '-');
  if (!signed_zone || std::sscanf(zone.c_str() + 1, "%2d:%2d%c", &hours, &minutes, &end) != 2)
    return std::nullopt;
  const auto offset = std::chrono::hours(hours) + std::chrono::minutes(minutes);
  return zone[0] == '-' ? -offset : offset;
}

}  // namespace

std::optional<Timestamp> parse_utc(const std::string& text, int first_year) {
  constexpr size_t kSeconds = 19;  // "2026-01-31T12:00:00"
  std::tm parts{};
  if (text.size() <= kSeconds || text[10] != 'T' ||
      ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts) != text.c_str() + kSeconds)
    return std::nullopt;
  const std::chrono::year_month_day day(std::chrono::year(parts.tm_year + 1900),
                                        std::chrono::month(static_cast<unsigned>(parts.tm_mon + 1)),
                                        std::chrono::day(static_cast<unsigned>(parts.tm_mday)));
  if (!day.ok()) return std::nullopt;
  size_t at = kSeconds;
  const Nanoseconds decimals = decimals_at(text, at);
  const auto offset = offset_in(text.substr(at));
  const std::time_t whole = ::timegm(&parts);
  constexpr int kFirstYear = 1678, kLastYear = 2261;  // of others only a part fits, or nothing
  const int year = parts.tm_year + 1900;
  if (!offset || year < std::max(first_year, kFirstYear) || year > kLastYear) return std::nullopt;
  return Timestamp(std::chrono::seconds(whole) + decimals - *offset);
}

std::string format_utc(Timestamp t) {
  const auto ms = std::chrono::floor<Milliseconds>(t);
  const auto day = std::chrono::floor<std::chrono::days>(ms);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(ms - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
}

}  // namespace assay
