// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace assay::hooks {

/// How often this test program has asked for memory.
size_t allocations_so_far();

}  // namespace assay::hooks
