// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "by_pieces.h"
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
enum class Method { processes, linear, boosted, pieces };
constexpr std::array<std::string_view, 4> kMethodNames = {"processes", "linear", "boosted",
                                                          "pieces"};

/// What was learned of times on idle devices. Tasks of which too little was measured are none of
/// its rows.
struct Idle {
  Method method = Method::processes;
  Learned learned;  ///< of `linear` only what makes features standard; of `boosted` and the base
  Grid linear;      ///< tasks x (1 + features)
  std::vector<std::string> boosters;  ///< XGBoost's JSON, one for each task
  std::vector<Trees> trees;           ///< of them
  ByPieces pieces;                    ///< of `pieces`, beside processes on whole models
  /// Of `pieces`, for each task: how far it is drawn to what whole models tell.
  std::vector<double> whole_shares;
};

/// Which methods can be tried on so many items, but that by pieces, which needs more than a lesson.
std::vector<Method> methods_for(size_t items);

/// Each task needs at least two items.
Result<Idle> learn_idle(const Lesson& lesson, Method method, uint64_t seed);

/// By pieces, and by processes on whole models where they are not too many; how much say these have
/// is for the caller to set. The lesson is of these tasks and models of the runs, `idle` are the
/// times of all.
Result<Idle> learn_idle_by_pieces(const Runs& runs, const Lesson& lesson,
                                  const std::vector<size_t>& tasks,
                                  const std::vector<size_t>& models, const Grid& idle);
/// What pieces tell, drawn to what whole models tell: the two err in different ways.
std::vector<double> tell_idle_by_pieces(const Idle& idle, std::span<const model::Piece> pieces,
                                        const Grid& features, const Grid& costs);

/// The logarithms of seconds, tasks x items.
Grid tell_idle(const Idle& idle, const Grid& features, const Grid& costs);

}  // namespace assay::predict
