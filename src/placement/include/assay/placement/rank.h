// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <assay/placement/candidates.h>

namespace assay::placement {

/// What must be reached, beside being fast.
struct Goals {
  std::optional<double> latency_seconds = {};  ///< of an inference with its transfer
  std::optional<double> energy_joules = {};    ///< of an inference
  std::optional<double> keep_free = {};        ///< share of a node's cores that must stay unused
  std::optional<double> requests_per_second = {};  ///< of the model, for keep_free
};

struct Ranked {
  Candidate candidate;
  bool possible = true;             ///< false: the model does not fit into its memory
  std::vector<std::string> missed;  ///< goals that it would miss, in words
};

/// Devices, the best first: those that reach all goals before those that miss some, and those
/// without room at the end; each in the order of time.
struct Ranking {
  std::vector<Ranked> devices;
  std::vector<LeftOut> left_out;
  bool clear = false;  ///< false: the intervals overlap too much to tell, or nothing was compared
  std::optional<double> confidence;  ///< that the first is the best; nothing without devices
  std::string answer;                ///< in a sentence
};

/// Transfers count where they are known of all.
Ranking rank(Candidates candidates, const Goals& goals);

/// Why a device stands where it does in its ranking, in a sentence.
std::string reason_for(const Ranked& one, const Ranking& ranking);

/// Below it the fastest cannot be told.
constexpr double kClear = 0.9;

}  // namespace assay::placement
