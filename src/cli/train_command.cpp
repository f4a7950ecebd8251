// SPDX-License-Identifier: Apache-2.0
#include "commands.h"
#include "exit_code.h"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <assay/base/files.h>
#include <assay/predict/train.h>

namespace assay::cli {
namespace {

constexpr size_t kLargestTable = size_t{1} << 30U;

struct TrainArguments {
  std::vector<std::string> tables;
  std::string mapping;
  std::string devices;
  std::string output = "assay-model.json";
  std::string report;
  std::string update;
  uint64_t seed = 0;
  bool json = false;
};

Result<predict::CsvSource> source_of(const std::filesystem::path& file) {
  predict::CsvSource source{file.native(), {}};
  ASSAY_TRY(source.text, read_file(file, kLargestTable));
  return source;
}

Result<predict::Runs> runs_of(const TrainArguments& args, const predict::Mapping* mapping) {
  predict::Runs runs;
  for (const std::filesystem::path file : args.tables) {
    ASSAY_TRY(const auto source, source_of(file));
    predict::CsvSource joined;
    if (mapping != nullptr && !mapping->join_file.empty()) {
      ASSAY_TRY(joined, source_of(file.parent_path() / mapping->join_file));
    }
    ASSAY_TRY(const auto more, predict::read_runs(source, mapping, joined));
    predict::add_runs(runs, more);
  }
  return runs;
}

/// The calibrated devices of a folder: NAME.json as `assay device calibrate` writes it.
Result<void> add_devices(const std::filesystem::path& folder, predict::Runs& runs) {
  std::error_code error;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  if (error)
    return bad_input(
        fmt::format("cannot read the devices in {}: {}", folder.native(), error.message()));
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    ASSAY_TRY(const auto text, read_file(file));
    const auto document = nlohmann::json::parse(text, nullptr, false);
    if (!document.is_object() || !document.contains("device"))
      return bad_input(fmt::format("{}: is no device that was calibrated", file.native()));
    ASSAY_TRY(const auto device, predict::read_device(document["device"], file.native()));
    predict::add_device(runs, device);
  }
  return {};
}

void show_progress(const std::string& what) {
  if (isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r\033[K{}", what);
}

Result<int> train(const TrainArguments& args) {
  std::optional<predict::Mapping> mapping;
  if (!args.mapping.empty()) {
    ASSAY_TRY(const auto text, read_file(args.mapping));
    ASSAY_TRY(mapping, predict::read_mapping(args.mapping, text));
  }
  ASSAY_TRY(auto runs, runs_of(args, mapping ? &*mapping : nullptr));
  std::optional<predict::Older> older;
  if (!args.update.empty()) {
    ASSAY_TRY(const auto text, read_file(args.update, kLargestTable));
    ASSAY_TRY(older, predict::read_older(args.update, text));
    predict::Runs all = older->runs;
    predict::add_runs(all, runs);
    runs = std::move(all);
  }
  if (!args.devices.empty()) ASSAY_CHECK(add_devices(args.devices, runs));
  predict::TrainOptions options;
  options.seed = args.seed;
  options.mapping = mapping ? &*mapping : nullptr;
  options.progress = show_progress;
  ASSAY_TRY(const auto training, predict::train(runs, options));
  show_progress("");
  ASSAY_CHECK(write_file(args.output, training.file));
  if (!args.report.empty())
    ASSAY_CHECK(write_file(args.report, predict::train_page(training.report)));
  if (args.json) {
    const auto document = predict::train_document(training.report);
    fmt::print("{}\n", document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  } else {
    fmt::print("{}", predict::train_text(training.report));
    if (older) fmt::print("{}", predict::update_text(*older, training.report));
    fmt::print("wrote {}\n", args.output);
  }
  return kDone;
}

}  // namespace

void add_train_command(CLI::App& app, Context& context) {
  auto* command =
      app.add_subcommand("train", "Learn how long models take on devices, from measurements");
  command->footer(
      "\nExamples:\n  assay train runs.csv -o model.json --report model.html\n  assay train "
      "others.csv --mapping others.yaml -o model.json\n  assay train new.csv --update model.json "
      "-o model.json\n");
  auto args = std::make_shared<TrainArguments>();
  command->add_option("tables", args->tables, "Measurements, as assay collect writes them")
      ->type_name("CSV")
      ->required();
  command->add_option("--mapping", args->mapping, "What the columns of other tables are")
      ->type_name("FILE");
  command->add_option("--devices", args->devices, "Folder of devices that were calibrated")
      ->type_name("DIR");
  command->add_option("-o,--output", args->output, "The model file (default: assay-model.json)")
      ->type_name("FILE");
  command->add_option("--report", args->report, "A page with pictures of how well it tells times")
      ->type_name("HTML");
  command
      ->add_option("--update", args->update,
                   "Learn also from what this model file was learned from")
      ->type_name("FILE");
  command->add_option("--seed", args->seed, "Of folds and trees (default: 0)")->type_name("N");
  command->add_flag("--json", args->json, "Print how well it tells times as JSON");
  command->callback([args, &context] { context.action = [args] { return train(*args); }; });
}

}  // namespace assay::cli
