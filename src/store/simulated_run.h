// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "blocks.h"

#include <vector>

namespace assay::store {

/// About 60 series as the probes would read them at 10 Hz from a busy vision app and its node:
/// counters in nanoseconds, ticks and bytes, gauges in pages, temperatures, an app's own fps and
/// latency; each group of values with the time of its own file's read. For tests.
std::vector<Column> simulated_columns(size_t beats);

}  // namespace assay::store
