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
  double line = 0;      ///< between what is a spell and what is not
  bool above = false;   ///< which side of it spells are on
  /// The series may begin and end with what is on that side, but lasts far longer than spells.
  size_t begin = 0, end = 0;

  /// Whether that value of the series is of a spell.
  bool holds(size_t place, double value) const;
};

/// Nothing: there are few of them, or the levels are ever others.
std::optional<Spells> spells_of(const std::vector<Level>& levels);

}  // namespace assay::analysis
