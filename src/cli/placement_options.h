// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "commands.h"
#include "prometheus_options.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <assay/placement/live.h>
#include <assay/predict/predictor.h>
#include <assay/store/shelf.h>

namespace assay::cli {

/// What `predict`, `place` and `serve` share: what was learned, and how the nodes are.
struct PlacementOptions {
  std::string learned;  ///< empty: placement.json beside the history
  std::string shared;   ///< a store that has it instead
  PrometheusOptions prometheus;
  std::vector<std::string> loads;
  std::vector<std::string> instances;
};
void add_placement_options(CLI::App& command, PlacementOptions& options);

/// Adds --shared: a PostgreSQL that devices and what was learned are kept in.
void add_shared_option(CLI::App& command, std::string& shared);

std::filesystem::path learned_file(const PlacementOptions& options, const Context& context);
/// Those that `assay device calibrate` has measured, here or on machines that share a store, which
/// is opened where it is not open yet.
Result<std::vector<predict::Device>> calibrated_devices(const PlacementOptions& options,
                                                        const Context& context,
                                                        std::unique_ptr<store::Shelf>& shelf);
/// With those devices. An error says how to make one where there is none.
Result<predict::Predictor> read_learned(const PlacementOptions& options, const Context& context);
/// "pi=40" of --load is a share of 0.4.
Result<std::map<std::string, double>> loads_of(const PlacementOptions& options);
Result<placement::JoinRules> join_rules(const PlacementOptions& options);

}  // namespace assay::cli
