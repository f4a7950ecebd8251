// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "asking.h"

namespace assay::cluster {

/// What GPUs do at present, whose they are, and which processes have memory on them, where somebody
/// tells.
Result<void> read_gpus(Asker& asker, const Sources& sources, const NodeOf& node_of,
                       Reading& reading);

}  // namespace assay::cluster
