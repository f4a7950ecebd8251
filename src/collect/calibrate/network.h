// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "calibrate/slices.h"

#include <string>

#include <assay/base/result.h>

namespace assay::collect {

/// Bytes per second that go to "address:port", which takes whatever is sent; to ourselves when it
/// is empty.
Result<Measured> measure_network(const std::string& peer, double seconds);

}  // namespace assay::collect
