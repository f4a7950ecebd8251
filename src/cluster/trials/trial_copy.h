// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trial_pods.h"

#include <optional>
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
  std::optional<Timestamp> silent = {};  ///< since when the API server does not answer
  std::vector<kubeapi::Pod> now = {};
  int looks = 0;
  bool broken = false;   ///< it has no result
  bool deleted = false;  ///< the server knows that it has to go
};

inline Failure interrupted() {
  return refused("it was interrupted");
}

}  // namespace assay::cluster
