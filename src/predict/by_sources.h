// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include <assay/predict/grid.h>

namespace assay::predict {

/// What is believed of a new device whose times add up from the same work as those of others: how
/// much it is a mix of theirs, and how much it follows features.
struct Mix {
  double sources = 1;
  double features = 0.0003;
};

/// An item's time on the new device.
struct SecondsOf {
  size_t item = 0;
  double seconds = 0;
};

/// The seconds of all items on the new device, by a few runs on it. `sources` are the seconds that
/// other devices take (devices x items); `features` of items are standardized. Nothing is told to
/// take less than a hundredth of the runs' mean. At least one run.
std::vector<double> tell_by_sources(const Grid& sources, const Grid& features, const Mix& mix,
                                    std::span<const SecondsOf> runs);

}  // namespace assay::predict
