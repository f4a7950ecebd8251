// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace assay::analysis {

/// Takes out what comes again in each of the two to four turns that a series holds, where they
/// agree about it: too few to tell a cycle, enough not to take its slopes for changes. What only
/// one of three turns has stays. No value may be missing; `noise` is the variance of what no turn
/// has in common. For some thousand values: the time grows with their square.
std::vector<double> without_few_turns(std::vector<double> values, double noise);

}  // namespace assay::analysis
