// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <assay/samples/series.h>

namespace assay::report {

/// At most about `points` samples of the series, so that a plot looks the same: first and last, and
/// of each stretch of time its smallest and its largest value. Values that are not finite are left
/// out.
Series decimated(const Series& series, size_t points);

}  // namespace assay::report
