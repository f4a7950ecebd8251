// SPDX-License-Identifier: Apache-2.0
// A series that somebody wrote by hand, and what a Prometheus answers to a range query: either a
// sentence about what is wrong, or even steps that every part of the analysis can work with.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <assay/analysis/series_analysis.h>
#include <assay/promapi/query.h>

using namespace assay;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto answer = promapi::parse_range(std::string(text), "fuzz"); answer) {
    for (const auto& series : answer->series)
      for (size_t i = 1; i < series.samples.size(); ++i)
        if (series.samples[i].first < series.samples[i - 1].first) __builtin_trap();
  }
  static_cast<void>(analysis::parse_series(
      text, "fuzz", {.column = "3", .time_column = "2", .missing = {"M", "-7", "1e36"}}));
  const auto series = analysis::parse_series(text, "fuzz");
  if (!series || series->values.size() > 2000) return 0;
  const auto found = analysis::analyze_series(*series, {.horizon = 5});
  if (!found) return 0;
  for (const auto& point : found->forecast.points)
    if (!std::isfinite(point.value) || !(point.low80 <= point.high80)) __builtin_trap();
  return 0;
}
