// SPDX-License-Identifier: Apache-2.0
#include "commands.h"
#include "duration_option.h"
#include "exit_code.h"
#include "ranking_options.h"
#include "signals.h"
#include "terminal.h"
#include "worker_options.h"

#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

#include <assay/base/time.h>
#include <assay/placement/document.h>
#include <assay/placement/placed.h>

namespace assay::cli {
namespace {

using nlohmann::json;

constexpr const char* kFooter = R"(
Examples:
  assay place resnet50.onnx                                     where it would run fastest
  assay place resnet50.onnx --deploy --image lab/worker:1       start it there, and measure it
  assay place resnet50.onnx --deploy --image lab/worker:1 --docker pi-1=tcp://10.0.0.7:2376
  assay place resnet50.onnx --deploy --image lab/worker:1 --kubernetes --advertise 10.0.0.5
  assay place --list                                            what was started so far
  assay place --end assay-resnet50-3fa2c1

What is measured goes to placed.csv beside the history: assay train placed.csv --update FILE
)";

struct PlaceArguments {
  RankingOptions ranking;
  WorkerOptions workers;
  std::string model;
  bool deploy = false;
  std::string wait;
  std::string end;
  bool list = false;
  bool json = false;
};

std::filesystem::path placed_table(const Context& context) {
  return context.store.parent_path() / "placed.csv";
}

void print_json(const json& document) {
  fmt::print("{}\n", document.dump(2, ' ', false, json::error_handler_t::replace));
}

json document_of(const PlaceArguments& args, const placement::Ranking& ranking) {
  json document = json::parse(placement::ranking_json(ranking));
  document["model"] = args.model;
  document["node"] = nullptr;
  document["deployed"] = nullptr;
  if (!ranking.devices.empty() && ranking.devices.front().possible)
    document["node"] = ranking.devices.front().candidate.node.name;
  return document;
}

Result<placement::DeployListener> listener_of(const PlaceArguments& args, const Signals& signals) {
  placement::DeployListener listener{
      .doing = [](const std::string& what) { fmt::print(stderr, "assay: {}\n", what); },
      .wanted = [&signals] { return !signals.came(); }};
  if (!args.wait.empty()) {
    ASSAY_TRY(const auto wait, duration_of("--wait", args.wait));
    listener.patience = std::chrono::duration_cast<Milliseconds>(wait);
  }
  return listener;
}

Result<placement::PlacedModel> deploy(const PlaceArguments& args, const Known& known,
                                      const RankedModel& ranked, const Signals& signals) {
  ASSAY_TRY(const auto listener, listener_of(args, signals));
  const auto& devices = known.predictor.devices();
  const placement::PlacingOrder order{.name = std::filesystem::path(args.model).stem().native(),
                                      .file = args.model,
                                      .characteristics = ranked.model,
                                      .candidate = ranked.ranking.devices.front().candidate,
                                      .devices = devices,
                                      .image = args.workers.image};
  const bool only = devices.size() == 1 && known.fleet.nodes.size() == 1;
  const auto find_host = [&](const std::string& node, const placement::Wanted& wanted) {
    return worker_host(args.workers, node, only, wanted);
  };
  return placement::place(order, find_host, listener);
}

Result<int> deploy_and_tell(const PlaceArguments& args, const Context& context, const Known& known,
                            const RankedModel& ranked) {
  const Signals signals;
  const auto placed = deploy(args, known, ranked, signals);
  if (!placed && signals.came()) {
    fmt::print(stderr, "assay: {}\n", placed.error().message);
    return kInterrupted;
  }
  if (!placed) return fail(placed.error());
  const auto kept = placement::keep(placed_table(context), *placed);
  if (args.json) {
    json document = document_of(args, ranked.ranking);
    document["deployed"] = placement::placed_document(*placed);
    print_json(document);
  } else {
    fmt::print("\n{}  it goes on running; this ends it: {}\n", placement::placed_text(*placed),
               end_command(args.workers, placed->worker));
  }
  if (!kept) return fail(kept.error());
  if (!args.json)
    fmt::print("  added to {}, for assay train --update\n", placed_table(context).native());
  return kDone;
}

Result<int> tell_only(const PlaceArguments& args, const placement::Ranking& ranking) {
  if (args.json)
    print_json(document_of(args, ranking));
  else if (reached(ranking))
    fmt::print("\nTo start it there: assay place {} --deploy --image IMAGE\n", args.model);
  return reached(ranking) ? kDone : kGoalMissed;
}

Result<int> tell_workers(const PlaceArguments& args) {
  const Signals signals;
  ASSAY_TRY(const auto workers, list_workers(args.workers, [&] { return !signals.came(); }));
  if (args.json)
    print_json(placement::workers_document(workers));
  else
    fmt::print("{}", placement::workers_text(workers));
  for (const auto& one : workers.not_asked)
    fmt::print(stderr, "assay: {} could not be asked: {}\n", one.node, one.reason);
  return workers.not_asked.empty() ? kDone : kRefused;
}

Result<int> place(const PlaceArguments& args, const Context& context) {
  if (args.list) return tell_workers(args);
  if (!args.end.empty()) {
    ASSAY_CHECK(end_worker(args.workers, args.end));
    fmt::print("{} is ended\n", args.end);
    return kDone;
  }
  if (args.model.empty()) return bad_input("name the ONNX file that is to be placed");
  if (args.deploy && args.workers.image.empty())
    return bad_input("--deploy needs --image IMAGE, of a worker as docs/placement.md says");
  ASSAY_TRY(const auto known, read_known(args.ranking, context));
  ASSAY_TRY(const auto ranked, rank_model(known, args.model));
  if (!args.json)
    fmt::print("{}", placement::ranking_text(args.model, ranked.ranking, output_look().color));
  if (!args.deploy) return tell_only(args, ranked.ranking);
  if (reached(ranked.ranking)) return deploy_and_tell(args, context, known, ranked);
  if (args.json) print_json(document_of(args, ranked.ranking));
  fmt::print(stderr, "assay: nothing was started: {}\n", ranked.ranking.answer);
  return kGoalMissed;
}

}  // namespace

void add_place_command(CLI::App& app, Context& context) {
  auto* command =
      app.add_subcommand("place", "Start a model where it runs fastest, and measure it there");
  command->footer(kFooter);
  auto args = std::make_shared<PlaceArguments>();
  command->add_option("model", args->model, "ONNX file")->type_name("FILE");
  command->add_flag("--deploy", args->deploy, "Start it on the best device");
  command->add_flag("--list", args->list, "Tell which workers were started and not ended");
  command->add_option("--end", args->end, "End a worker that was started before")
      ->type_name("NAME");
  command->add_option("--wait", args->wait, "How long a worker may take until it serves (120s)")
      ->type_name("TIME");
  command->add_flag("--json", args->json, "Print everything as JSON");
  add_worker_options(*command, args->workers, "--image", "Image of the worker, for --deploy");
  add_ranking_options(*command, args->ranking);
  add_store_option(*command, context);
  command->callback(
      [args, &context] { context.action = [args, &context] { return place(*args, context); }; });
}

}  // namespace assay::cli
