// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace assay::analysis {

/// A series of which is known what is in it.
struct MadeSeries {
  std::vector<double> values;   ///< NaN: missing
  std::vector<double> periods;  ///< of its cycles, in samples; empty: it has none
  std::string what;
};

/// One to two cycles of five shapes and 6 or more turns, with up to as much noise as signal; some
/// with a trend, a wandering level or a step, gaps, missing samples and outliers. The same number
/// always gives the same series.
MadeSeries make_cyclic(uint64_t number);
/// Noise, random walks, noise with a memory, trends, steps and bursts, as messy as the others.
MadeSeries make_without_cycle(uint64_t number);

}  // namespace assay::analysis
