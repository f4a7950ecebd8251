// SPDX-License-Identifier: Apache-2.0
#include "number_times.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include <assay/base/letters.h>
#include <assay/base/text.h>

namespace assay::analysis {

namespace {

/// Seconds since 1970 are so many since 2001.
constexpr double kSince1970 = 1e9;
/// How much the steps of a clock differ, and how many of them more than that.
constexpr double kJitter = 0.25, kMostOthers = 0.5;
/// Of 1954 and of 2119.
constexpr double kFirstSerial = 20'000, kLastSerial = 80'000;

bool are_large(const std::vector<std::pair<double, double>>& samples) {
  return std::all_of(samples.begin(), samples.end(),
                     [](const auto& sample) { return !(std::abs(sample.first) < kSince1970); });
}

bool are_even(const std::vector<std::pair<double, double>>& samples) {
  std::vector<double> steps;
  for (size_t i = 1; i < samples.size(); ++i) {
    const double step = std::abs(samples[i].first - samples[i - 1].first);
    if (step > 0) steps.push_back(step);
  }
  if (steps.empty()) return true;
  const auto middle = steps.begin() + static_cast<ptrdiff_t>(steps.size() / 2);
  std::nth_element(steps.begin(), middle, steps.end());
  const double usual = *middle;
  const auto others = std::count_if(steps.begin(), steps.end(), [&](double step) {
    return std::abs(step - usual) > kJitter * usual;
  });
  return static_cast<double>(others) <= kMostOthers * static_cast<double>(steps.size());
}

}  // namespace

void NumberTimes::add(double time, size_t line) {
  if (!std::isfinite(time)) return;
  const auto note = [line](size_t& first) {
    if (first == 0) first = line;
  };
  if (count_++ > 0) {
    if (time > last_) {
      ++rises_;
      note(first_rise_);
    } else if (time < last_) {
      ++falls_;
      note(first_fall_);
    } else {
      note(first_repeat_);
    }
  }
  last_ = time;
}

std::string NumberTimes::doubt(const std::vector<std::pair<double, double>>& samples,
                               bool head) const {
  if (count_ < 2) return "";
  const bool large = are_large(samples);
  if (!head && large) return "";
  if (rises_ > 0 && falls_ > 0)
    return fmt::format("it rises in line {} and falls in line {}", first_rise_, first_fall_);
  if (2 * (rises_ + falls_) < count_ - 1)
    return fmt::format("it repeats itself in line {}, and mostly", first_repeat_);
  if (head && !large && !are_even(samples)) return "its steps are uneven";
  return "";
}

bool names_times(std::string_view head) {
  constexpr std::string_view kTimes[] = {
      "time",  "times", "timestamp", "timestamps",  "datetime", "date", "t",    "ts",
      "year",  "years", "epoch",     "unix",        "utc",      "gmt",  "zeit", "datum",
      "jahr",  "index", "idx",       "zeitstempel", "sec",      "secs", "step", "second",
      "s",     "ms",    "us",        "ns",          "seconds",  "when", "row",  "sample",
      "frame", "clock", "iteration", "uhrzeit",     "zeitpunkt"};
  constexpr std::string_view kBesides[] = {"elapsed", "local", "start", "end", "since",
                                           "of",      "the",   "in",    "1970"};
  const std::string name = lower_case(head);
  const auto is_in = [](const auto& words, std::string_view word) {
    return std::find(std::begin(words), std::end(words), word) != std::end(words);
  };
  bool found = false;
  constexpr std::string_view kBetween = " \t_-./:()[]\"'";
  for (size_t at = 0; (at = name.find_first_not_of(kBetween, at)) != name.npos;) {
    const size_t end = std::min(name.find_first_of(kBetween, at), name.size());
    const auto word = std::string_view(name).substr(at, end - at);
    if (!is_in(kTimes, word) && !is_in(kBesides, word)) return false;
    found = found || is_in(kTimes, word);
    at = end;
  }
  return found;
}

bool counts_rows(std::string_view head) {
  constexpr std::string_view kPositions[] = {
      "step", "steps", "index", "idx",   "iteration", "iterations", "iter",  "iters", "row",
      "n",    "i",     "tick",  "epoch", "sample",    "frame",      "batch", "epochs"};
  const std::string name = lower_case(trim(head));
  const auto word = std::string_view(name).substr(name.find_last_of(" \t_-./:") + 1);
  return std::find(std::begin(kPositions), std::end(kPositions), word) != std::end(kPositions);
}

bool may_be_serials(const std::vector<std::pair<double, double>>& samples, std::string_view head) {
  const std::string name = lower_case(head);
  if (name.find("date") == name.npos && name.find("datum") == name.npos) return false;
  return std::all_of(samples.begin(), samples.end(), [](const auto& sample) {
    return sample.first >= kFirstSerial && sample.first <= kLastSerial;
  });
}

}  // namespace assay::analysis
