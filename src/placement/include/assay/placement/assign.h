// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include <assay/placement/rank.h>

namespace assay::placement {

/// For each ranking (of one model, over one and the same fleet) the place in its list of devices
/// where the model goes, so that all models together take the least time: models on one node share
/// it, each as if the others kept it busy. Nothing where no device has room. Devices that miss
/// goals are taken only when no other has room.
std::vector<std::optional<size_t>> assign(const std::vector<Ranking>& rankings);

}  // namespace assay::placement
