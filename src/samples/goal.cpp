// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>

#include <assay/base/text.h>
#include <assay/base/time.h>
#include <assay/base/wording.h>
#include <assay/samples/goal.h>
#include <assay/samples/metric.h>

namespace assay {
namespace {

constexpr std::array<std::string_view, 6> kStatistics = {"mean", "p50",  "p95",
                                                         "p99",  "peak", "min"};

struct Synonym {
  std::string_view word;
  std::string_view meant;
};
constexpr std::array<Synonym, 5> kStatisticSynonyms = {
    {{"max", "peak"}, {"avg", "mean"}, {"average", "mean"}, {"median", "p50"}, {"minimum", "min"}}};
constexpr std::array<Synonym, 8> kUnitSymbols = {{{"W", "watts"},
                                                  {"J", "joules"},
                                                  {"Hz", "hertz"},
                                                  {"C", "celsius"},
                                                  {"°C", "celsius"},
                                                  {"fps", "per second"},
                                                  {"/s", "per second"},
                                                  {"Hz", "per second"}}};
/// How names end that apps use for times and for rates.
constexpr std::array<Synonym, 7> kUnitsByName = {{{"latency", "seconds"},
                                                  {"duration", "seconds"},
                                                  {"time", "seconds"},
                                                  {"delay", "seconds"},
                                                  {"fps", "per second"},
                                                  {"rate", "per second"},
                                                  {"per_second", "per second"}}};

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

/// The unit of a metric of ours, or the one that an app's name for it tells; empty when only the
/// app knows it.
std::string_view unit_of(std::string_view metric_name) {
  metric_name = full_metric_name(metric_name);
  if (const Metric* known = find_metric(metric_name)) {
    return known->name == metric_name ? known->unit : known->rate_unit;
  }
  if (ends_with(metric_name, "_bytes_per_second")) return "bytes per second";
  for (const std::string_view unit : {"bytes", "seconds", "ratio"}) {
    if (ends_with(metric_name, unit)) return unit;
  }
  for (const auto& [end, unit] : kUnitsByName) {
    if (ends_with(metric_name, end)) return unit;
  }
  return {};
}

/// How much one `written` is in seconds or bytes or parts of one; nothing when it is no such unit.
struct Scale {
  double factor;
  std::string_view unit;
};

std::optional<Scale> byte_scale(std::string_view written) {
  const bool per_second = ends_with(written, "/s");
  if (per_second) written.remove_suffix(2);
  const auto bytes = parse_bytes("1" + std::string(written == "bytes" ? "B" : written));
  if (!bytes) return std::nullopt;
  return Scale{static_cast<double>(*bytes), per_second ? "bytes per second" : "bytes"};
}

std::optional<Scale> scale_of(std::string_view written, std::string_view expected_unit) {
  if (written == "%") return Scale{0.01, "ratio"};
  if (ends_with(expected_unit, "bytes") || ends_with(expected_unit, "bytes per second")) {
    if (const auto bytes = byte_scale(written)) return bytes;
  }
  if (const auto duration = parse_duration("1" + std::string(written))) {
    return Scale{seconds(*duration), "seconds"};
  }
  return byte_scale(written);
}

bool is_own_unit(std::string_view written, std::string_view metric_name, std::string_view unit) {
  if (written == metric_name || (!unit.empty() && written == unit)) return true;
  return std::any_of(kUnitSymbols.begin(), kUnitSymbols.end(), [&](const Synonym& symbol) {
    return symbol.word == written && symbol.meant == unit;
  });
}

Result<double> parse_bound(std::string_view text, const Goal& goal) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view written = trim(text.substr(static_cast<size_t>(end - text.data())));
  const bool sane = error == std::errc() && std::isfinite(number) &&
                    written.find_first_of("0123456789.+-") == std::string_view::npos;
  const std::string_view unit = unit_of(goal.metric);
  if (sane && (written.empty() || is_own_unit(written, goal.metric, unit))) return number;
  if (written == "m" && unit.empty()) {
    return bad_input(
        fmt::format("{} in goal {} may be minutes or metres; write 180s for the one, the "
                    "plain number for the other",
                    in_quotes(text), in_quotes(goal.text)));
  }
  const auto scale = sane ? scale_of(written, unit) : std::nullopt;
  if (!scale) {
    return bad_input(
        fmt::format("{} in goal {} is not a value; write for example 10, 200ms, 512MB or 80%",
                    in_quotes(text), in_quotes(goal.text)));
  }
  if (!unit.empty() && scale->unit != unit) {
    const std::string_view example = unit == "cores" ? ", 0.8 being 80 % of one core" : "";
    return bad_input(fmt::format("goal {} compares {} with {}; give {} {} {}{}",
                                 in_quotes(goal.text), unit, scale->unit, goal.metric,
                                 unit == "per second" ? "as a number" : "in", unit, example));
  }
  return number * scale->factor;
}

Result<void> parse_name(std::string_view name, Goal& goal) {
  const bool valid = !name.empty() && name.front() != '.' && name.back() != '.' &&
                     std::all_of(name.begin(), name.end(), [](unsigned char c) {
                       return c > 0x20 && c != 0x7F && c != '\'' && c != '"';
                     });
  if (!valid) {
    return bad_input(
        fmt::format("goal {} does not begin with a metric; write for example \"fps >= 10\"",
                    in_quotes(goal.text)));
  }
  const size_t dot = name.rfind('.');
  goal.metric = name.substr(0, dot);
  if (dot == std::string_view::npos) return {};
  goal.statistic = name.substr(dot + 1);
  if (std::find(kStatistics.begin(), kStatistics.end(), goal.statistic) != kStatistics.end())
    return {};
  for (const auto& synonym : kStatisticSynonyms) {
    if (synonym.word == goal.statistic) {
      return bad_input(fmt::format("unknown statistic '{}' in goal {}; did you mean '{}'?",
                                   goal.statistic, in_quotes(goal.text), synonym.meant));
    }
  }
  const bool percentile = goal.statistic[0] == 'p' && parse_uint(goal.statistic.substr(1));
  return bad_input(fmt::format(
      "unknown statistic {} in goal {}{}", in_quotes(goal.statistic), in_quotes(goal.text),
      percentile ? fmt::format("; choose of: {}", fmt::join(kStatistics, ", "))
                 : suggestion(goal.statistic, kStatistics)));
}

}  // namespace

Result<Goal> parse_goal(const std::string& text) {
  Goal goal;
  goal.text = trim(text);
  const std::string_view all = goal.text;
  const size_t sign = all.find_first_of("<>");
  if (sign != std::string_view::npos && sign > 0 && all[sign - 1] == '=') {
    return bad_input(fmt::format("goal {} has the signs of {}= swapped; write {}=", in_quotes(all),
                                 all[sign], all[sign]));
  }
  if (sign == std::string_view::npos) {
    return bad_input(fmt::format(
        "goal {} compares nothing; use <, <=, > or >=, as in \"fps >= 10\"", in_quotes(all)));
  }
  const bool equal = all.substr(sign + 1, 1) == "=";
  if (all[sign] == '<') {
    goal.comparison = equal ? Comparison::less_equal : Comparison::less;
  } else {
    goal.comparison = equal ? Comparison::greater_equal : Comparison::greater;
  }
  ASSAY_CHECK(parse_name(trim(all.substr(0, sign)), goal));
  ASSAY_TRY(goal.bound, parse_bound(trim(all.substr(sign + (equal ? 2 : 1))), goal));
  return goal;
}

}  // namespace assay
