// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include <assay/base/result.h>
#include <assay/predict/learn.h>
#include <assay/predict/runs.h>

namespace assay::predict {

/// With fewer models of a task nothing is learned of it.
constexpr size_t kLeastItems = 5;

/// What was learned of one kind of pieces.
struct PieceKind {
  std::string name;           ///< empty: of all kinds, for pieces that no other tells
  std::vector<size_t> tasks;  ///< rows of what it tells
  Learned learned;
};

/// Tells a model's time as the sum of what its pieces take.
struct ByPieces {
  size_t tasks = 0;
  std::vector<PieceKind> kinds;  ///< that for all others is the last
};

/// Whether there are profiles of most models with a workload, and of some for each task.
bool has_pieces(const Runs& runs);

/// By what the pieces of these models took on those tasks, and by the times that they take together
/// (logarithms, all tasks x all models).
Result<ByPieces> learn_pieces(const Runs& runs, const std::vector<size_t>& tasks,
                              const std::vector<size_t>& models, const Grid& idle);

/// The logarithm of seconds for each of its tasks that these pieces of a whole take.
std::vector<double> tell_pieces(const ByPieces& learned, std::span<const model::Piece> pieces,
                                std::span<const model::Piece> whole);

/// The pieces of a model that was run; none where no engine told.
std::span<const model::Piece> pieces_of(const Runs& runs, size_t model);

/// What features and costs of a piece are.
size_t piece_features();
size_t piece_costs();

}  // namespace assay::predict
