// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include <assay/analysis/series_analysis.h>
#include <assay/base/result.h>

namespace assay::cli {

/// What --horizon or --season says, in samples of the series: a count of them from `least` on, or a
/// time of as many steps. A year is one of the calendar where steps are months or years.
Result<size_t> samples_of(const std::string& option, const std::string& text,
                          const analysis::EvenSeries& series, size_t least);

}  // namespace assay::cli
