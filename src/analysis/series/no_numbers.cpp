// SPDX-License-Identifier: Apache-2.0
#include "no_numbers.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>

#include <assay/base/text.h>
#include <assay/base/wording.h>

namespace assay::analysis {
namespace {

constexpr size_t kMostRemembered = 100;
constexpr size_t kMostTold = 6;

/// <0.05, below what a laboratory can measure.
bool is_limit(std::string_view cell) {
  return cell.size() > 1 && (cell[0] == '<' || cell[0] == '>') &&
         trim(cell.substr(1)).find_first_not_of("0123456789.,") == cell.npos;
}

/// Ice, k.A., #N/A or *** may be what somebody writes where there is no value.
bool may_mean_missing(std::string_view cell) {
  constexpr size_t kLongest = 16;
  constexpr std::string_view kBesides = " ./_-[]()!";
  if (is_limit(cell)) return true;
  const auto is_letter = [](unsigned char c) {
    return c < 0x80 && (std::isalpha(c) || c == '*' || c == '#');
  };
  return cell.size() <= kLongest && !cell.starts_with('-') &&
         std::any_of(cell.begin(), cell.end(), is_letter) &&
         std::all_of(cell.begin(), cell.end(), [&](char c) {
           return is_letter(static_cast<unsigned char>(c)) || kBesides.find(c) != kBesides.npos;
         });
}

/// 1.477,68 or 1,477.68
bool has_thousands(std::string_view cell) {
  return cell.find('.') != cell.npos && cell.find(',') != cell.npos &&
         cell.find_first_not_of("0123456789.,-") == cell.npos;
}

/// 5 7.1, as where blanks part the cells.
bool may_be_cells(std::string_view cell) {
  return cell.find(' ') != cell.npos && cell.find_first_not_of(" 0123456789.-") == cell.npos;
}

}  // namespace

void NoNumbers::add(std::string_view cell, size_t line) {
  ++cells_;
  const auto word = trim(cell);
  if (std::any_of(words_.begin(), words_.end(), [&](const Word& w) { return w.text == word; }))
    return;
  if (words_.size() < kMostRemembered)
    words_.push_back({std::string(word), line});
  else
    more_ = true;
}

/// Of the words behind the first one.
std::string NoNumbers::others() const {
  const size_t told = std::min(words_.size(), kMostTold), left = words_.size() - told;
  std::string text;
  for (size_t i = 1; i < told; ++i) {
    const char* const before = i == 1 ? ", nor " : i + 1 < told || left > 0 ? ", " : " or ";
    text += fmt::format("{}{} in line {}", before, in_quotes(words_[i].text), words_[i].line);
  }
  if (left > 0)
    text +=
        fmt::format(" or {}{} other word{}", more_ ? "at least " : "", left, left == 1 ? "" : "s");
  if (cells_ > words_.size()) text += fmt::format(" ({} such cells)", cells_);
  return text;
}

std::string NoNumbers::hint() const {
  if (may_be_cells(words_.front().text))
    return "; cells have to be apart by commas, tabs or semicolons";
  if (has_thousands(words_.front().text)) return "; write numbers without a sign for thousands";
  std::string marks;
  size_t count = 0;
  for (const auto& word : words_)
    if (may_mean_missing(word.text) && count < kMostTold) marks += (count++ ? "," : "") + word.text;
  if (count == 0) return "";
  if (is_limit(words_.front().text))
    return fmt::format(
        "; to leave out what was beyond a limit, say --missing '{}', or write the "
        "number that is to stand for it",
        marks);
  return fmt::format("; where {} for a missing value, say --missing '{}'",
                     words_.size() == 1 ? "it stands" : "such a word stands", marks);
}

std::string NoNumbers::text(const std::string& who) const {
  return fmt::format("{}:{}: {} is no number{}{}", who, words_.front().line,
                     in_quotes(words_.front().text), others(), hint());
}

}  // namespace assay::analysis
