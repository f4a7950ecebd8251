// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include <assay/analysis/series_analysis.h>
#include <assay/base/result.h>
#include <assay/samples/records.h>

namespace assay::report {

/// A series and what was found out about it.
struct SeriesView {
  std::string name;
  analysis::EvenSeries series;
  analysis::SeriesAnalysis analysis;
  /// In seconds since 1970: a series that ends just then ends "now". Nothing: it is never said.
  std::optional<double> now = {};
};

/// What `assay analyze --json` prints; docs/analyze.md tells of every field.
Json series_document(const SeriesView& view);
/// The answer in one line, a small plot, and what it rests on.
std::string series_text(const SeriesView& view, bool color, size_t columns = 100);
/// One self-contained page that opens offline.
std::string series_page(const SeriesView& view);

}  // namespace assay::report
