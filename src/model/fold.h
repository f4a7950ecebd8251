// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "call.h"

namespace assay::model {

/// Computes the contents of small outputs where those of the inputs are known: what shapes are made
/// of. Called after the operator's rule.
void fold(Call& call);

}  // namespace assay::model
