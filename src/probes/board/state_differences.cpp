// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include <assay/base/text.h>
#include <assay/probes/probe.h>

namespace assay::probes {
namespace {

using Differences = std::vector<std::string>;

std::string or_none(const std::string& text) {
  return text.empty() ? "none" : text;
}

void compare_text(std::string_view what, const std::string& before, const std::string& after,
                  Differences& out) {
  if (before != after) {
    out.push_back(fmt::format("{} was {}, is {}", what, or_none(before), or_none(after)));
  }
}

std::string hertz(std::optional<double> value) {
  return value ? fmt::format("{} MHz", format_number(*value / 1e6)) : "unknown";
}

void compare_hertz(std::string_view what, std::optional<double> before, std::optional<double> after,
                   Differences& out) {
  if (before != after)
    out.push_back(fmt::format("{} was {}, is {}", what, hertz(before), hertz(after)));
}

/// Whether `list` has the item, or the same counter at least as high: a reboot starts counters
/// anew.
bool has(const std::vector<std::string>& list, std::string_view item) {
  const size_t space = item.rfind(' ');
  const auto count = parse_uint(item.substr(space == item.npos ? item.size() : space + 1));
  return std::any_of(list.begin(), list.end(), [&](std::string_view other) {
    if (other == item) return true;
    if (!count || other.substr(0, space + 1) != item.substr(0, space + 1)) return false;
    return parse_uint(other.substr(space + 1)).value_or(0) >= *count;
  });
}

bool is_now(std::string_view item) {
  return item.size() > 4 && item.substr(item.size() - 4) == " now";
}

/// Counters and "since boot" marks of the first state matter only where the second has more.
void compare_throttling(const BoardState& before, const BoardState& after, Differences& out) {
  for (const auto& item : after.throttling) {
    if (!has(before.throttling, item)) out.push_back(fmt::format("throttling is new: {}", item));
  }
  for (const auto& item : before.throttling) {
    if (is_now(item) && !has(after.throttling, item)) {
      out.push_back(fmt::format("throttling is over: {}", item));
    }
  }
}

/// A load that differs by more than one task and by more than half changes results.
void compare_load(double before, double after, Differences& out) {
  const double difference = std::abs(before - after);
  if (difference <= 1 || difference <= 0.5 * std::max(before, after)) return;
  out.push_back(fmt::format("load before the start was {}, is {}", format_number(before),
                            format_number(after)));
}

}  // namespace

std::vector<std::string> state_differences(const BoardState& before, const BoardState& after) {
  Differences out;
  compare_text("governor", before.governor, after.governor, out);
  compare_hertz("lowest frequency", before.min_frequency_hertz, after.min_frequency_hertz, out);
  compare_hertz("highest frequency", before.max_frequency_hertz, after.max_frequency_hertz, out);
  compare_throttling(before, after, out);
  compare_text("power mode", before.power_mode, after.power_mode, out);
  compare_text("kernel", before.kernel, after.kernel, out);
  compare_load(before.load_before, after.load_before, out);
  return out;
}

}  // namespace assay::probes
