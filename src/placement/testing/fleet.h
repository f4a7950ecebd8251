// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <assay/placement/rank.h>

namespace assay::placement::testing {

/// A node that takes so long, give or take the share `spread`.
inline Candidate candidate(const std::string& name, double seconds, double spread = 0.05) {
  Candidate one;
  one.node.name = name;
  one.engine = "opencv";
  one.seconds = one.idle_seconds = seconds;
  one.low = seconds / (1 + spread);
  one.high = seconds * (1 + spread);
  return one;
}

}  // namespace assay::placement::testing
