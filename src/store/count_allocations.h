// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace assay::store {

/// How often the calling thread has asked for memory with `new`. For tests.
size_t allocations_here();

}  // namespace assay::store
