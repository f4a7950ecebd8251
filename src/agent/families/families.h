// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "live_table.h"

#include <assay/promapi/exposition.h>

namespace assay::agent {

/// container_*: cAdvisor's names and labels.
void write_containers(promapi::Exposition& out, const LiveTable& table);

}  // namespace assay::agent
