// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <assay/report/series_report.h>

namespace assay::report {

/// A series and its forecast as SVG, with axes and a legend of what is in it.
std::string series_picture(const SeriesView& view);

/// Text that may stand in HTML, also within quotes.
std::string escaped(std::string_view text);

/// Round numbers from `low` to `high`, at most `most` and at least two where they differ.
std::vector<double> round_ticks(double low, double high, size_t most);

}  // namespace assay::report
