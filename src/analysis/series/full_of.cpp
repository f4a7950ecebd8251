// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>

#include <assay/analysis/series_analysis.h>

namespace assay::analysis {

namespace {

using Words = std::vector<std::string>;

/// Runs of letters, in small ones; a capital behind a small one begins another word.
Words words_of(std::string_view name) {
  Words words;
  char before = ' ';
  for (const char c : name) {
    const auto letter = static_cast<unsigned char>(c);
    const bool goes_on =
        std::isalpha(static_cast<unsigned char>(before)) &&
        !(std::islower(static_cast<unsigned char>(before)) && std::isupper(letter));
    if (std::isalpha(letter)) {
      if (!goes_on) words.emplace_back();
      words.back() += static_cast<char>(std::tolower(letter));
    }
    before = c;
  }
  return words;
}

template <size_t N>
bool is_one_of(const std::string& word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_percent_word(const std::string& word) {
  return word == "percent" || word == "percentage" || word == "pct";
}

bool is_share_word(const std::string& word) {
  constexpr std::array<std::string_view, 7> kWords = {"ratio", "share", "fraction", "busy",
                                                      "duty",  "usage", "occupancy"};
  return is_one_of(word, kWords) || word.find("util") != word.npos || is_percent_word(word);
}

bool is_other_unit(const std::string& word) {
  constexpr std::array<std::string_view, 13> kWords = {
      "bytes", "kib",   "mib",  "gib",   "mb",   "gb",         "seconds",
      "cores", "watts", "watt", "power", "temp", "temperature"};
  return is_one_of(word, kWords);
}

bool is_processor(const std::string& word) {
  constexpr std::array<std::string_view, 2> kWords = {"cpu", "gpu"};
  return is_one_of(word, kWords);
}

/// As tables call a column when they say nothing about it.
bool says_nothing(const Words& words) {
  constexpr std::array<std::string_view, 8> kWords = {"value", "values", "val",    "y",
                                                      "v",     "data",   "series", "metric"};
  return std::all_of(words.begin(), words.end(),
                     [&](const std::string& word) { return is_one_of(word, kWords); });
}

bool is_percent(std::string_view name, const Words& words) {
  return name.find('%') != name.npos || std::any_of(words.begin(), words.end(), is_percent_word);
}

}  // namespace

std::optional<double> full_of(std::string_view name, const SeriesSummary& summary) {
  if (summary.min < 0 || summary.max > 100) return std::nullopt;
  const auto words = words_of(name);
  if (is_percent(name, words)) return 100;
  const double full = summary.max <= 1 ? 1 : 100;
  if (words.empty() || says_nothing(words)) {
    // A level or a count of a few; use in percent comes below 1 or above 10 now and then.
    const bool few = full > 1 && summary.min >= 1 && summary.max <= 10;
    return few ? std::nullopt : std::optional(full);
  }
  if (std::any_of(words.begin(), words.end(), is_other_unit)) return std::nullopt;
  const bool share = std::any_of(words.begin(), words.end(), is_share_word) ||
                     std::all_of(words.begin(), words.end(), is_processor);
  return share ? std::optional(full) : std::nullopt;
}

}  // namespace assay::analysis
