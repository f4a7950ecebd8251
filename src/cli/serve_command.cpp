// SPDX-License-Identifier: Apache-2.0
#include "commands.h"
#include "exit_code.h"
#include "placement_options.h"
#include "positive.h"
#include "worker_options.h"

#include <cstdio>
#include <fmt/format.h>
#include <memory>

#include <assay/base/text.h>
#include <assay/serve/service.h>

namespace assay::cli {
namespace {

struct ServeArguments {
  PlacementOptions placement;
  serve::ServiceSettings settings;
  WorkerOptions workers;
  std::string largest_upload;
  std::string uploads_size;
  std::string old_uploads_size;
  std::unique_ptr<store::Shelf> shelf;  ///< of devices that machines share
};

/// How much is kept of what callers send, and how large a model may be.
Result<void> read_sizes(const ServeArguments& args, serve::ServiceSettings& settings) {
  if (!args.uploads_size.empty()) {
    ASSAY_TRY(settings.uploads_size, parse_bytes(args.uploads_size));
  }
  if (!args.old_uploads_size.empty()) {
    ASSAY_TRY(settings.old_uploads_size, parse_bytes(args.old_uploads_size));
  }
  if (args.largest_upload.empty()) return {};
  ASSAY_TRY(settings.largest_upload, parse_bytes(args.largest_upload));
  if (settings.largest_upload > settings.uploads_size / 2)
    return bad_input(
        "--largest-upload is more than half of --uploads-size, which is for what is on its way");
  return {};
}

Result<int> serve_requests(ServeArguments& args, const Context& context) {
  serve::ServiceSettings& settings = args.settings;
  const auto folder = context.store.parent_path();
  settings.model_file = learned_file(args.placement, context);
  // A file that was named wins.
  if (args.placement.learned.empty()) settings.shared = args.placement.shared;
  settings.prometheus = prometheus_access(args.placement.prometheus);
  if (settings.token_file.empty()) settings.token_file = folder / "token";
  if (settings.uploads.empty()) settings.uploads = folder / "uploads";
  ASSAY_CHECK(read_sizes(args, settings));
  settings.find_devices = [&args, &context] {
    return calibrated_devices(args.placement, context, args.shelf);
  };
  settings.deploy_image = args.workers.image;
  settings.placed_table = folder / "placed.csv";
  settings.find_host = [&args](const std::string& node, const placement::Wanted& wanted) {
    return worker_host(args.workers, node, false, wanted);
  };
  settings.list_workers = [&args](const placement::Wanted& wanted) {
    return list_workers(args.workers, wanted);
  };
  ASSAY_TRY(settings.join, join_rules(args.placement));
  ASSAY_TRY(settings.loads, loads_of(args.placement));
  if (!settings.loads.empty() && !settings.prometheus.url.empty())
    return bad_input("--load is for devices without Prometheus, which knows their load itself");
  ASSAY_CHECK(serve::serve(settings, [](const std::string& sentence) {
    std::fputs(fmt::format("assay: {}\n", sentence).c_str(), stderr);
  }));
  return kDone;
}

}  // namespace

void add_serve_command(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("serve", "Answer over HTTP which device runs a model fastest");
  command->footer(
      "\nExamples:\n  assay serve\n"
      "  assay serve --prometheus http://10.0.0.5:9090 --old-routes 127.0.0.1:7001\n");
  auto args = std::make_shared<ServeArguments>();
  serve::ServiceSettings& settings = args->settings;
  command
      ->add_option("--listen", settings.listen, "Address of the service; all of it takes a token")
      ->type_name("ADDRESS")
      ->capture_default_str();
  command
      ->add_option("--old-routes", settings.old_listen,
                   "Address of /api/profiling and /upload for existing callers, without a token "
                   "(they used :7001)")
      ->type_name("ADDRESS");
  command->add_option("--old-rate", settings.old_rate, "Requests a second of one caller there")
      ->type_name("N")
      ->check(is_positive)
      ->capture_default_str();
  command
      ->add_option(
          "--token-file", settings.token_file,
          "File of the token; made where there is none (default: token beside the history)")
      ->type_name("FILE");
  command
      ->add_option("--uploads", settings.uploads,
                   "Folder of models that are sent (default: uploads beside the history)")
      ->type_name("FOLDER");
  command->add_option("--largest-upload", args->largest_upload, "Larger models are refused [4GiB]")
      ->type_name("SIZE");
  command
      ->add_option("--uploads-size", args->uploads_size,
                   "Of that folder, half of it for what is being sent; the oldest make room "
                   "[16GiB]")
      ->type_name("SIZE");
  command
      ->add_option("--old-uploads-size", args->old_uploads_size,
                   "The same of what /upload takes, which has a folder of its own [8GiB]")
      ->type_name("SIZE");
  add_worker_options(*command, args->workers, "--deploy-image",
                     "Image of workers; without it callers may not start models");
  add_placement_options(*command, args->placement);
  add_store_option(*command, context);
  command->callback([args, &context] {
    context.action = [args, &context] { return serve_requests(*args, context); };
  });
}

}  // namespace assay::cli
