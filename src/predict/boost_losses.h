// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "booster.h"

namespace assay::predict {

/// Losses on labels that are logarithms of a ratio in units of `scale`. Both grow like the square
/// of a difference below `bend` and in proportion to it above, so that a few wild times have little
/// say. The labels have to live as long as the gradient.

/// Of the difference of logarithms.
Gradient log_loss(std::span<const double> labels, double bend);
/// Of the relative error, which weighs too much more than too little.
Gradient relative_loss(std::span<const double> labels, double scale, double bend);

}  // namespace assay::predict
