// SPDX-License-Identifier: Apache-2.0
#include "commands.h"
#include "exit_code.h"
#include "ranking_options.h"
#include "terminal.h"

#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

#include <assay/placement/assign.h>
#include <assay/placement/document.h>

namespace assay::cli {
namespace {

struct PredictArguments {
  RankingOptions ranking;
  std::vector<std::string> models;
  bool all = false;
  bool json = false;
};

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
bool all_reached(const std::vector<placement::Ranking>& rankings) {
  return std::all_of(rankings.begin(), rankings.end(), reached);
}

Result<int> predict_times(const PredictArguments& args, const Context& context) {
  if (args.all == !args.ranking.device.empty())
    return bad_input("say --all, or which one: --device NAME");
  ASSAY_TRY(const auto known, read_known(args.ranking, context));
  std::vector<placement::Ranking> rankings;
  for (const auto& file : args.models) {
    ASSAY_TRY(auto ranked, rank_model(known, file));
    rankings.push_back(std::move(ranked.ranking));
  }
  if (args.json)
    print_json(args, rankings);
  else
    print_text(args, rankings);
  return all_reached(rankings) ? kDone : kGoalMissed;
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
  command->add_flag("--all", args->all, "All devices, the fastest first");
  command->add_flag("--json", args->json, "Print everything as JSON");
  add_ranking_options(*command, args->ranking);
  add_store_option(*command, context);
  command->callback([args, &context] {
    context.action = [args, &context] { return predict_times(*args, context); };
  });
}

}  // namespace assay::cli
