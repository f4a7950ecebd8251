// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trial_pods.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <assay/cluster/trial_runner.h>

namespace assay::cluster {

/// One trial from its creation until it is gone.
struct TrialRunner::Copy {
  enum class Phase : uint8_t { creating, starting, staying, removing, gone };
  TrialCopy made;
  TrialPods pods;
  TrialResult result = {};
  Phase phase = Phase::creating;
  Timestamp until = {};                  ///< its phase lasts at most
  Timestamp next = {};                   ///< before which the server wants to be left alone
  Timestamp measured_from = {};          ///< on our own clock, which nobody sets
  std::optional<Timestamp> silent = {};  ///< since when the API server does not answer
  std::vector<kubeapi::Pod> now = {};
  int looks = 0;
  std::map<std::string, Timestamp> unready = {};  ///< its nodes that are, and since when
  std::set<std::string> lost_nodes = {};          ///< they will not end its pods
  bool deserted = false;                          ///< for so long that nobody will end them
  bool broken = false;                            ///< it has no result
  bool deleted = false;                           ///< the server knows that it has to go
};

inline Failure interrupted() {
  return refused("it was interrupted");
}

}  // namespace assay::cluster
