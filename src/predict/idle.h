// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trees.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <assay/base/result.h>
#include <assay/predict/learn.h>

namespace assay::predict {

/// How times on idle devices are learned; which is best for a table, validation says.
enum class Method { processes, linear, boosted };
constexpr std::array<std::string_view, 3> kMethodNames = {"processes", "linear", "boosted"};

/// What was learned of times on idle devices. Tasks of which too little was measured are none of
/// its rows.
struct Idle {
  Method method = Method::processes;
  Learned learned;  ///< of `linear` only what makes features standard; of `boosted` and the base
  Grid linear;      ///< tasks x (1 + features)
  std::vector<std::string> boosters;  ///< XGBoost's JSON, one for each task
  std::vector<Trees> trees;           ///< of them
};

/// Which methods can be tried on so many items.
std::vector<Method> methods_for(size_t items);

/// With fewer models of a task nothing is learned of it.
constexpr size_t kLeastItems = 5;
/// Each task needs at least two items.
Result<Idle> learn_idle(const Lesson& lesson, Method method, uint64_t seed);

/// The logarithms of seconds, tasks x items.
Grid tell_idle(const Idle& idle, const Grid& features, const Grid& costs);

}  // namespace assay::predict
