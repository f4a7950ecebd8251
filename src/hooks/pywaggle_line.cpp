// SPDX-License-Identifier: Apache-2.0
#include "pywaggle_line.h"

#include "recorder.h"

#include <array>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include <assay/base/text.h>

namespace assay::hooks {
namespace {

using std::chrono::minutes;

/// A number of exactly so many digits at the front of `text`.
std::optional<int> take_digits(std::string_view& text, size_t count) {
  if (text.size() < count) return std::nullopt;
  int value = 0;
  for (const char c : text.substr(0, count)) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  text.remove_prefix(count);
  return value;
}

/// "YYYY-MM-DDTHH:MM:SS" at the front of `text`.
std::optional<Timestamp> take_seconds(std::string_view& text) {
  constexpr std::array<size_t, 6> kDigits = {4, 2, 2, 2, 2, 2};
  constexpr std::string_view kBehind = "--T::";
  std::array<int, 6> parts{};
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto part = take_digits(text, kDigits[i]);
    if (!part) return std::nullopt;
    parts[i] = *part;
    if (i == kBehind.size()) break;
    if (text.empty() || text.front() != kBehind[i]) return std::nullopt;
    text.remove_prefix(1);
  }
  const std::chrono::year_month_day day{std::chrono::year(parts[0]),
                                        std::chrono::month(static_cast<unsigned>(parts[1])),
                                        std::chrono::day(static_cast<unsigned>(parts[2]))};
  const bool in_range = parts[0] >= 1970 && parts[0] <= 2200;
  if (!day.ok() || !in_range || parts[3] > 23 || parts[4] > 59 || parts[5] > 59) {
    return std::nullopt;
  }
  return Timestamp(std::chrono::sys_days(day)) + std::chrono::hours(parts[3]) + minutes(parts[4]) +
         std::chrono::seconds(parts[5]);
}

bool is_plausible(Nanoseconds age, Nanoseconds oldest) {
  return age <= oldest && age >= -kMaxAhead;
}

bool is_timer_name(std::string_view name) {
  if (name.ends_with("_ns")) return true;
  while (!name.empty()) {
    const std::string_view part = next_field(name, '.');
    if (part == "timeit" || part == "duration") return true;
  }
  return false;
}

/// Python writes what JSON has no word for.
bool ends_in_no_finite_number(std::string_view line) {
  const std::string_view text = trim(line);
  return text.ends_with(":NaN}") || text.ends_with(":Infinity}") || text.ends_with(":-Infinity}");
}

std::nullopt_t lost(Trouble trouble, Losses& losses) {
  losses.add(trouble);
  return std::nullopt;
}

}  // namespace

std::optional<Timestamp> parse_pywaggle_time(std::string_view text) {
  const auto whole = take_seconds(text);
  if (!whole) return std::nullopt;
  int microseconds = 0;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    const auto part = take_digits(text, 6);
    if (!part) return std::nullopt;
    microseconds = *part;
  }
  const auto nanoseconds = take_digits(text, 3);
  if (!nanoseconds || !text.empty()) return std::nullopt;
  return *whole + std::chrono::microseconds(microseconds) + Nanoseconds(*nanoseconds);
}

Timestamp PlainZone::to_wall(Timestamp local, Timestamp wall_now) {
  if (is_plausible(wall_now - (local - zone_), kMaxAge)) return local - zone_;
  const double quarters = std::round(seconds(local - wall_now) / 900);
  const Nanoseconds zone =
      std::chrono::duration_cast<Nanoseconds>(minutes(15) * static_cast<int64_t>(quarters));
  const bool is_zone = std::abs(quarters) <= 14 * 4;
  if (is_zone && is_plausible(wall_now - (local - zone), minutes(5))) zone_ = zone;
  return local - zone_;
}

std::optional<Published> parse_pywaggle_line(std::string_view line, Losses& losses) {
  const auto json = nlohmann::json::parse(line.begin(), line.end(), nullptr, false);
  if (!json.is_object()) {
    return lost(ends_in_no_finite_number(line) ? Trouble::out_of_range : Trouble::not_json, losses);
  }
  const auto name = json.find("name");
  const auto value = json.find("value");
  const auto meta = json.find("meta");
  const auto time = json.find("timestamp");
  if (name == json.end() || !name->is_string()) return lost(Trouble::bad_name, losses);
  if (value == json.end()) return lost(Trouble::no_value, losses);
  Published published;
  published.name = name->get<std::string>();
  if (published.name.size() > StringToken::kLimit) return lost(Trouble::bad_name, losses);
  published.text = !value->is_number();
  if (!published.text) published.value = value->get<double>();
  const bool has_meta = meta != json.end() && !meta->empty();
  published.timer = value->is_number_integer() && !has_meta && is_timer_name(published.name);
  if (time != json.end() && time->is_string()) {
    published.local = parse_pywaggle_time(time->get_ref<const std::string&>());
  }
  return published;
}

void LineCutter::feed(std::string_view bytes, Losses& losses,
                      const std::function<void(std::string_view)>& take) {
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, end);
    if (!too_long_ && begun_.size() + piece.size() > line_bytes_) {
      losses.add(Trouble::too_long);
      too_long_ = true;
      begun_.clear();
    }
    if (!too_long_) begun_.append(piece);
    if (end == std::string_view::npos) return;
    if (!trim(begun_).empty()) take(begun_);
    begun_.clear();
    too_long_ = false;
    bytes.remove_prefix(end + 1);
  }
}

void LineCutter::cut_off(Losses& losses) {
  if (!begun_.empty()) losses.add(Trouble::cut_off);
  begun_.clear();
  too_long_ = false;
}

}  // namespace assay::hooks
