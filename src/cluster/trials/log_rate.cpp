// SPDX-License-Identifier: Apache-2.0
#include "log_rate.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>

#include <assay/base/text.h>
#include <assay/base/wording.h>

namespace assay::cluster {
namespace {

/// The library's matcher calls itself for each character.
constexpr size_t kLongestLine = 1000;

/// "1,234.5" is a number too.
std::optional<double> number_of(std::string text) {
  std::erase(text, ',');
  const auto number = parse_double(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

std::optional<Estimate> slope_of(const std::vector<LogNumber>& numbers) {
  const auto n = static_cast<double>(numbers.size());
  if (numbers.size() < 2) return std::nullopt;
  double time = 0, value = 0;
  for (const auto& one : numbers) {
    time += seconds(one.time - numbers.front().time) / n;
    value += one.value / n;
  }
  double spread = 0, together = 0;
  for (const auto& one : numbers) {
    const double t = seconds(one.time - numbers.front().time) - time;
    spread += t * t;
    together += t * (one.value - value);
  }
  if (!(spread > 0) || !(together > 0)) return std::nullopt;
  const double slope = together / spread;
  double misses = 0;
  for (const auto& one : numbers) {
    const double t = seconds(one.time - numbers.front().time) - time;
    misses += std::pow(one.value - value - slope * t, 2);
  }
  const double error = n > 2 ? std::sqrt(misses / (n - 2) / spread) : 0;
  return Estimate{slope, error / slope};
}

std::optional<Estimate> median_of(const std::vector<LogNumber>& numbers) {
  std::vector<double> values;
  for (const auto& one : numbers)
    if (one.value > 0) values.push_back(one.value);
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  const double median = (values[(n - 1) / 2] + values[n / 2]) / 2;
  // Half of the values are within 0.67 standard deviations, and a median is 1.25 times less exact
  // than a mean.
  const double sd = (values[n * 3 / 4] - values[n / 4]) / 1.35;
  return Estimate{median, n < 4 ? 0 : 1.25 * sd / std::sqrt(static_cast<double>(n)) / median};
}

}  // namespace

Result<LogPattern> LogPattern::compile(const std::string& text) {
  try {
    std::regex regex(text, std::regex::ECMAScript | std::regex::optimize);
    if (regex.mark_count() == 1) return LogPattern(std::move(regex));
  } catch (const std::regex_error& error) {
    return bad_input(fmt::format("{} is no regular expression: {}", in_quotes(text), error.what()));
  }
  return bad_input(fmt::format("{} needs one group, which is the number: 'images/sec: ([0-9.]+)'",
                               in_quotes(text)));
}

std::optional<double> LogPattern::find(std::string_view line) const {
  if (line.size() > kLongestLine) return std::nullopt;
  std::match_results<std::string_view::const_iterator> match;
  try {
    if (!std::regex_search(line.begin(), line.end(), match, regex_)) return std::nullopt;
  } catch (const std::regex_error&) {  // too complex for this line
    return std::nullopt;
  }
  return number_of(match[1].str());
}

std::vector<LogNumber> numbers_in(std::string_view log, const LogPattern& pattern) {
  std::vector<LogNumber> numbers;
  while (!log.empty()) {
    std::string_view line = next_field(log, '\n');
    const auto time = parse_utc(std::string(next_field(line, ' ')));
    if (!time) continue;
    if (const auto value = pattern.find(line)) numbers.push_back({*time, *value});
  }
  return numbers;
}

namespace {

std::vector<LogNumber> within(const std::vector<LogNumber>& numbers, Timestamp from, Timestamp to) {
  std::vector<LogNumber> some;
  std::copy_if(numbers.begin(), numbers.end(), std::back_inserter(some),
               [&](const LogNumber& one) { return one.time >= from && one.time <= to; });
  return some;
}

}  // namespace

std::optional<Estimate> rate_of(const std::vector<LogNumber>& numbers, bool counts, Timestamp from,
                                Timestamp to) {
  const auto some = within(numbers, from, to);
  return counts ? slope_of(some) : median_of(some);
}

std::string why_no_rate(const std::vector<LogNumber>& numbers, bool counts, Timestamp from,
                        Timestamp to) {
  if (numbers.empty()) return "no line of its log has a number by --log-pattern";
  const size_t some = within(numbers, from, to).size();
  if (some == 0)
    return "all numbers of its log are from before the end of --warm-up, or from after the trial";
  if (counts && some == 1)
    return "its log has one number after --warm-up, and --log-counts needs two";
  return counts ? "the numbers of its log do not grow, as --log-counts says they do"
                : "its log has no numbers above 0";
}

}  // namespace assay::cluster
