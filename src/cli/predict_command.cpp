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

void print_text(const PredictArguments& args, const std::vector<placement::Ranking>& rankings,
                const std::vector<placement::Assigned>& assigned) {
  const bool color = output_look().color;
  for (size_t i = 0; i < rankings.size(); ++i)
    fmt::print("{}{}", i == 0 ? "" : "\n",
               placement::ranking_text(args.models[i], rankings[i], color));
  if (rankings.size() < 2) return;
  fmt::print("\nTogether:\n");
  for (size_t i = 0; i < rankings.size(); ++i) {
    const auto& [device, models, total] = assigned[i];
    const std::string beside =
        models > 1 ? fmt::format(", {} beside {} other{}", placement::time_text(total), models - 1,
                                 models > 2 ? "s" : "")
                   : "";
    fmt::print("  {} on {}{}\n", args.models[i],
               device ? rankings[i].devices[*device].candidate.node.name : "none", beside);
  }
}

/// Whether all have a device, and reach their goals also beside each other.
int exit_code(const std::vector<placement::Ranking>& rankings,
              const std::vector<placement::Assigned>& assigned, const placement::Goals& goals) {
  bool reached = true;
  for (size_t i = 0; i < rankings.size(); ++i) {
    if (!assigned[i].device) return kRefused;
    const auto latency = goals.latency_seconds;
    reached = reached && rankings[i].devices[*assigned[i].device].missed.empty() &&
              !(latency && assigned[i].seconds > *latency);
  }
  return reached ? kDone : kGoalMissed;
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
  const auto assigned = placement::assign(rankings);
  if (args.json) {
    const auto document =
        nlohmann::json::parse(placement::placements_json(args.models, rankings, assigned));
    fmt::print("{}\n", document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  } else {
    print_text(args, rankings, assigned);
  }
  return exit_code(rankings, assigned, known.goals);
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
