// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unordered_set>

#include <assay/model/trace.h>

namespace assay::model {

/// One stored tensor that is a weight, or nodes' stand-in for one (ConstantOfShape).
struct Weight {
  int value = -1;
  double elements = 0;
  double bytes = 0;
  bool statistic = false;  ///< of a normalization; not trained
};

/// Every weight once: what is stored and is no shape, index or condition. Text is no weight, and
/// whole numbers are ones only where quantized operators take them.
std::vector<Weight> weights(const Trace& trace);

/// Where the numbers of a constant value come from: itself, or what it was folded from. Values in
/// `seen` are left out; those that were visited are added to it.
std::vector<int> roots(const Trace& trace, int value, std::unordered_set<int>& seen);

}  // namespace assay::model
