// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "placement_options.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <assay/placement/rank.h>
#include <assay/predict/predictor.h>

namespace assay::cli {

/// What `predict` and `place` share: the nodes that count, and what they have to reach.
struct RankingOptions {
  PlacementOptions placement;
  std::string device;  ///< only this one; empty: all
  std::string engine;  ///< only this one; empty: each device's best
  std::string latency;
  double keep_free = 0;
  double rate = 0;
  double joules = 0;
  std::string network;
  std::vector<std::string> dims;
};
void add_ranking_options(CLI::App& command, RankingOptions& options);

/// All that models are ranked by.
struct Known {
  predict::Predictor predictor;
  placement::Fleet fleet;
  placement::Goals goals;
  std::optional<double> network;
  model::TraceOptions dims;
  std::string engine;
};
Result<Known> read_known(const RankingOptions& options, const Context& context);

struct RankedModel {
  model::Characteristics model;
  placement::Ranking ranking;
};
Result<RankedModel> rank_model(const Known& known, const std::filesystem::path& file);
/// Whether the best device has room for the model and reaches the goals.
bool reached(const placement::Ranking& ranking);

}  // namespace assay::cli
