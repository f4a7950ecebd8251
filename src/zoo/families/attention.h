// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "family.h"

namespace assay::zoo {

/// The size of a transformer, from its variant and the recipe.
struct TransformerSize {
  int64_t layers;
  int64_t hidden;
  int64_t heads;
};

/// `published` scaled by the recipe, or what the recipe says outright. Heads that do not divide the
/// features are refused.
TransformerSize transformer_size(Net& net, const Plan& plan, const TransformerSize& published);

/// Every position of batch x positions x features looks at every other.
Tensor attention(Net& net, const Tensor& x, int64_t heads);

/// Two layers with four times the features between them.
Tensor feed_forward(Net& net, const Tensor& x);

}  // namespace assay::zoo
