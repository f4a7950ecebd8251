// SPDX-License-Identifier: Apache-2.0
#include "commands.h"
#include "exit_code.h"
#include "placement_options.h"
#include "terminal.h"

#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

#include <assay/base/text.h>
#include <assay/base/time.h>
#include <assay/base/wording.h>
#include <assay/placement/assign.h>
#include <assay/placement/document.h>

namespace assay::cli {
namespace {

struct PredictArguments {
  PlacementOptions placement;
  std::vector<std::string> models;
  std::string device;
  bool all = false;
  bool json = false;
  std::string latency;
  double keep_free = 0;
  double rate = 0;
  double joules = 0;
  std::string network;
};

Result<placement::Goals> goals_of(const PredictArguments& args) {
  placement::Goals goals;
  if (!args.latency.empty()) {
    ASSAY_TRY(const auto latency, parse_duration(args.latency));
    goals.latency_seconds = seconds(latency);
  }
  if (args.joules > 0) goals.energy_joules = args.joules;
  if (args.keep_free > 0) goals.keep_free = args.keep_free / 100;
  if (args.rate > 0) goals.requests_per_second = args.rate;
  return goals;
}

Result<placement::Fleet> fleet_of(const PredictArguments& args,
                                  const predict::Predictor& predictor) {
  const auto access = prometheus_access(args.placement);
  ASSAY_TRY(const auto loads, loads_of(args.placement));
  if (access.url.empty()) return placement::fleet_of(predictor.devices(), loads);
  if (!loads.empty())
    return bad_input("--load is for devices without Prometheus, which knows their load itself");
  ASSAY_TRY(const auto rules, join_rules(args.placement));
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

Result<std::vector<placement::Ranking>> rankings_of(const PredictArguments& args,
                                                    const Context& context) {
  ASSAY_TRY(const auto goals, goals_of(args));
  ASSAY_TRY(const auto predictor, read_learned(args.placement, context));
  ASSAY_TRY(auto whole, fleet_of(args, predictor));
  ASSAY_TRY(const auto fleet, narrowed(std::move(whole), args.device));
  std::optional<double> network;
  if (!args.network.empty()) {
    ASSAY_TRY(const double bits, parse_bit_rate(args.network));
    network = bits / 8;
  }
  std::vector<placement::Ranking> rankings;
  for (const auto& file : args.models) {
    ASSAY_TRY(auto model, model::characteristics(file, {}));
    const placement::Question question{file, std::move(model), network};
    rankings.push_back(placement::rank(placement::candidates(predictor, fleet, question), goals));
  }
  return rankings;
}

void print_text(const PredictArguments& args, const std::vector<placement::Ranking>& rankings) {
  const bool color = output_look().color;
  for (size_t i = 0; i < rankings.size(); ++i)
    fmt::print("{}{}", i == 0 ? "" : "\n",
               placement::ranking_text(args.models[i], rankings[i], color));
  if (rankings.size() < 2) return;
  fmt::print("\nTogether:\n");
  const auto places = placement::assign(rankings);
  for (size_t i = 0; i < rankings.size(); ++i)
    fmt::print("  {} on {}\n", args.models[i],
               places[i] ? rankings[i].devices[*places[i]].candidate.node.name : "none");
}

void print_json(const PredictArguments& args, const std::vector<placement::Ranking>& rankings) {
  const auto places = placement::assign(rankings);
  auto list = nlohmann::json::array();
  for (size_t i = 0; i < rankings.size(); ++i) {
    auto one = placement::ranking_document(rankings[i]);
    one["model"] = args.models[i];
    one["node"] = nullptr;
    if (places[i]) one["node"] = rankings[i].devices[*places[i]].candidate.node.name;
    list.push_back(std::move(one));
  }
  fmt::print("{}\n", nlohmann::json{{"placements", std::move(list)}}.dump(
                         2, ' ', false, nlohmann::json::error_handler_t::replace));
}

/// Whether each model has a device that reaches the goals.
bool reached(const std::vector<placement::Ranking>& rankings) {
  return std::all_of(rankings.begin(), rankings.end(), [](const placement::Ranking& ranking) {
    return !ranking.devices.empty() && ranking.devices.front().possible &&
           ranking.devices.front().missed.empty();
  });
}

Result<int> predict_times(const PredictArguments& args, const Context& context) {
  if (args.all == !args.device.empty()) return bad_input("say --all, or which one: --device NAME");
  ASSAY_TRY(const auto rankings, rankings_of(args, context));
  if (args.json)
    print_json(args, rankings);
  else
    print_text(args, rankings);
  return reached(rankings) ? kDone : kGoalMissed;
}

void add_goal_options(CLI::App& command, PredictArguments& args) {
  constexpr const char* kGoals = "Goals";
  command.add_option("--latency", args.latency, "Longest time of an inference with its transfer")
      ->type_name("TIME")
      ->group(kGoals);
  command.add_option("--energy", args.joules, "Most energy of an inference")
      ->type_name("JOULES")
      ->check(CLI::PositiveNumber)
      ->group(kGoals);
  command.add_option("--keep-free", args.keep_free, "How much of a node must stay unused")
      ->type_name("PERCENT")
      ->check(CLI::Range(0.0, 100.0))
      ->group(kGoals);
  command.add_option("--rate", args.rate, "Inferences a second, for --keep-free")
      ->type_name("N")
      ->check(CLI::PositiveNumber)
      ->group(kGoals);
  command
      .add_option("--network", args.network,
                  "Speed of the network, as in 100mbit: the transfer counts")
      ->type_name("RATE")
      ->group(kGoals);
}

}  // namespace

void add_predict_command(CLI::App& app, Context& context) {
  auto* command =
      app.add_subcommand("predict", "How long a model will take on each device, and which is best");
  command->footer(
      "\nExamples:\n  assay predict resnet50.onnx --all\n"
      "  assay predict resnet50.onnx --all --load pi-1=80 --load pi-2=10\n"
      "  assay predict a.onnx b.onnx --all --prometheus http://10.0.0.5:9090 --latency 200ms\n");
  auto args = std::make_shared<PredictArguments>();
  command->add_option("models", args->models, "ONNX files; several are placed together")
      ->type_name("FILE")
      ->required();
  command->add_option("--device", args->device, "Only this one")->type_name("NAME");
  command->add_flag("--all", args->all, "All devices, the fastest first");
  command->add_flag("--json", args->json, "Print everything as JSON");
  add_goal_options(*command, *args);
  add_placement_options(*command, args->placement);
  add_store_option(*command, context);
  command->callback([args, &context] {
    context.action = [args, &context] { return predict_times(*args, context); };
  });
}

}  // namespace assay::cli
