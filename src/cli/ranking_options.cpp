// SPDX-License-Identifier: Apache-2.0
#include "ranking_options.h"

#include "dim_options.h"
#include "duration_option.h"
#include "positive.h"

#include <algorithm>
#include <fmt/format.h>

#include <assay/base/text.h>
#include <assay/base/time.h>
#include <assay/base/wording.h>

namespace assay::cli {
namespace {

Result<placement::Goals> goals_of(const RankingOptions& options) {
  placement::Goals goals;
  if (!options.latency.empty()) {
    ASSAY_TRY(const auto latency, duration_of("--latency", options.latency));
    goals.latency_seconds = seconds(latency);
  }
  if (options.joules > 0) goals.energy_joules = options.joules;
  if (options.keep_free > 0) goals.keep_free = options.keep_free / 100;
  if (options.rate > 0) goals.requests_per_second = options.rate;
  return goals;
}

Result<placement::Fleet> fleet_of(const RankingOptions& options,
                                  const predict::Predictor& predictor) {
  const auto access = prometheus_access(options.placement.prometheus);
  ASSAY_TRY(const auto loads, loads_of(options.placement));
  if (access.url.empty()) return placement::fleet_of(predictor.devices(), loads);
  if (!loads.empty())
    return bad_input("--load is for devices without Prometheus, which knows their load itself");
  ASSAY_TRY(const auto rules, join_rules(options.placement));
  promapi::Queries queries(access);
  ASSAY_TRY(const auto live, placement::read_live(queries));
  return placement::join(live, rules);
}

/// Only the node that was asked for.
Result<placement::Fleet> narrowed(placement::Fleet fleet, const std::string& device) {
  if (device.empty()) return fleet;
  std::vector<std::string_view> names;
  for (const auto& node : fleet.nodes) names.push_back(node.name);
  for (const auto& one : fleet.left_out) {
    if (one.node == device)
      return refused(fmt::format("{} cannot be told of: {}", device, one.reason));
  }
  if (std::find(names.begin(), names.end(), device) == names.end())
    return bad_input(
        fmt::format("no device is called {}{}", in_quotes(device), suggestion(device, names)));
  std::erase_if(fleet.nodes, [&](const auto& node) { return node.name != device; });
  fleet.left_out.clear();
  return fleet;
}

void add_goal_options(CLI::App& command, RankingOptions& options) {
  constexpr const char* kGoals = "Goals";
  command
      .add_option("--latency", options.latency, "Longest time of an inference with its transfer")
      ->type_name("TIME")
      ->group(kGoals);
  command.add_option("--energy", options.joules, "Most energy of an inference")
      ->type_name("JOULES")
      ->check(is_positive)
      ->group(kGoals);
  command.add_option("--keep-free", options.keep_free, "How much of a node must stay unused")
      ->type_name("PERCENT")
      ->check(CLI::Range(0.0, 100.0))
      ->group(kGoals);
  command.add_option("--rate", options.rate, "Inferences a second, for --keep-free")
      ->type_name("N")
      ->check(is_positive)
      ->group(kGoals);
  command
      .add_option("--network", options.network,
                  "Speed of the network, as in 100mbit: the transfer counts")
      ->type_name("RATE")
      ->group(kGoals);
}

}  // namespace

void add_ranking_options(CLI::App& command, RankingOptions& options) {
  command.add_option("--device", options.device, "Only this one")->type_name("NAME");
  command
      .add_option("--engine", options.engine,
                  "Only this one, as it will run there (default: each device's fastest)")
      ->type_name("NAME");
  add_dim_option(command, options.dims);
  add_goal_options(command, options);
  add_placement_options(command, options.placement);
}

Result<Known> read_known(const RankingOptions& options, const Context& context) {
  ASSAY_TRY(auto goals, goals_of(options));
  ASSAY_TRY(auto predictor, read_learned(options.placement, context));
  ASSAY_CHECK(placement::check_engine(predictor, options.engine));
  ASSAY_TRY(auto whole, fleet_of(options, predictor));
  ASSAY_TRY(auto fleet, narrowed(std::move(whole), options.device));
  std::optional<double> network;
  if (!options.network.empty()) {
    ASSAY_TRY(const double bits, parse_bit_rate(options.network));
    network = bits / 8;
  }
  ASSAY_TRY(auto dims, read_dims(options.dims));
  return Known{std::move(predictor), std::move(fleet), goals, network,
               std::move(dims),      options.engine};
}

Result<RankedModel> rank_model(const Known& known, const std::filesystem::path& file) {
  ASSAY_TRY(auto model, model::characteristics(file, known.dims));
  const placement::Question question{file.native(), model, known.network, known.engine};
  return RankedModel{
      std::move(model),
      placement::rank(placement::candidates(known.predictor, known.fleet, question), known.goals)};
}

bool reached(const placement::Ranking& ranking) {
  return !ranking.devices.empty() && ranking.devices.front().possible &&
         ranking.devices.front().missed.empty();
}

}  // namespace assay::cli
