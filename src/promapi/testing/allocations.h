// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace assay::promapi::testing {

/// How often this thread has asked for memory: the test binary's operator new counts.
size_t allocations();

}  // namespace assay::promapi::testing
