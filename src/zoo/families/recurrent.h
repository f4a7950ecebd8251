// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "family.h"

namespace assay::zoo {

/// From positions x batch x features to positions x batch x (directions x hidden).
Tensor lstm_layer(Net& net, const Tensor& x, int64_t hidden, int64_t directions);

}  // namespace assay::zoo
