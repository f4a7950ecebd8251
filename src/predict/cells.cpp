// SPDX-License-Identifier: Apache-2.0
#include "cells.h"

#include <fmt/format.h>

#include <assay/base/csv.h>
#include <assay/base/text.h>

namespace assay::predict {
namespace {

/// "00:01:02.5"
std::optional<double> parse_clock(std::string_view text) {
  double seconds = 0;
  for (int part = 0; part < 3; ++part) {
    const bool last = part == 2;
    const auto value = parse_double(last ? text : next_field(text, ':'));
    if (!value || *value < 0) return std::nullopt;
    seconds = seconds * 60 + *value;
  }
  return seconds;
}

}  // namespace

Result<Cells> Cells::read(const CsvSource& source) {
  Cells cells;
  cells.name_ = source.name;
  CsvRows rows(source.text);
  std::vector<std::string> row;
  for (;;) {
    auto more = rows.next(row);
    if (!more)
      return bad_input(fmt::format("{}:{}: {}", source.name, rows.line(), more.error().message));
    if (!*more) break;
    ASSAY_CHECK(cells.add(row, rows.line()));
  }
  if (cells.columns_.empty()) return bad_input(source.name + ": is empty");
  return cells;
}

Result<void> Cells::add(const std::vector<std::string>& row, size_t line) {
  if (columns_.empty()) {
    for (size_t i = 0; i < row.size(); ++i) columns_[row[i]] = i;
    width_ = row.size();
    return {};
  }
  if (row.size() != width_)
    return bad_input(
        fmt::format("{}:{}: {} cells under {} columns", name_, line, row.size(), width_));
  rows_.push_back(row);
  lines_.push_back(line);
  return {};
}

Failure Cells::wrong(size_t row, const std::string& what) const {
  return bad_input(fmt::format("{}:{}: {}", name_, lines_[row], what));
}

std::optional<double> parse_time(const std::string& text, TimeUnit unit) {
  if (unit == TimeUnit::clock) return parse_clock(text);
  const auto value = parse_double(text);
  if (!value) return std::nullopt;
  const double per_second =
      unit == TimeUnit::seconds ? 1 : (unit == TimeUnit::milliseconds ? 1e3 : 1e6);
  return *value / per_second;
}

}  // namespace assay::predict
