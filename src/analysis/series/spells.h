// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace assay::analysis {

/// One of the levels that a series has, one behind the other.
struct Level {
  size_t begin = 0;
  size_t end = 0;
  double mean = 0;

  double length() const { return static_cast<double>(end - begin); }
};

/// How a series leaves one level again and again, for a while each time: rain, or a machine that is
/// on and off.
struct Spells {
  double turn = 0;      ///< from one spell to the next, on average
  double variance = 0;  ///< of means over many turns, times their length
};

/// Nothing: there are few of them, or the levels are ever others.
std::optional<Spells> spells_of(const std::vector<Level>& levels);

}  // namespace assay::analysis
