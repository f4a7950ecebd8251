// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include <assay/placement/rank.h>

namespace assay::placement {

/// Where one of several models goes.
struct Assigned {
  std::optional<size_t> device = {};  ///< in its ranking's list; nothing: no device has room
  size_t models = 0;                  ///< that the node has then, this one too
  double seconds = 0;                 ///< of an inference with its transfer while all of them run
};

/// For each ranking (of one model, over one and the same fleet) where the model goes, so that as
/// few as possible find no room, then as few as possible miss goals by themselves, and then all
/// together take the least time: models on one node share it, each as if the others kept it busy.
std::vector<Assigned> assign(const std::vector<Ranking>& rankings);

}  // namespace assay::placement
