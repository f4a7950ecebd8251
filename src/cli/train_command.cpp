// SPDX-License-Identifier: Apache-2.0
#include "commands.h"
#include "exit_code.h"
#include "named_file.h"
#include "placement_options.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <assay/base/files.h>
#include <assay/collect/calibrate.h>
#include <assay/predict/train.h>
#include <assay/store/shelf.h>

namespace assay::cli {
namespace {

constexpr size_t kLargestTable = size_t{1} << 30U;
constexpr size_t kLargestMapping = 1U << 20U;

struct TrainArguments {
  std::vector<std::string> tables;
  std::string mapping;
  std::string devices;
  std::string output;  ///< empty: placement.json beside the history
  std::string shared;
  std::string report;
  std::string update;
  uint64_t seed = 0;
  bool json = false;
};

Result<predict::CsvSource> source_of(const std::filesystem::path& file) {
  predict::CsvSource source{file.native(), {}};
  ASSAY_TRY(source.text, read_named_file(file, kLargestTable));
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

/// One that cannot be read is left out: the others can be learned from without it.
void add_device(const Result<collect::Calibration>& found, predict::Runs& runs) {
  if (found)
    predict::add_device(runs, found->device);
  else
    fmt::print(stderr, "assay: left out: {}\n", found.error().message);
}

/// Those that were named, or those beside the history; and those that are shared.
Result<void> add_all_devices(const TrainArguments& args, const Context& context,
                             store::Shelf* shelf, predict::Runs& runs) {
  const std::filesystem::path folder = args.devices.empty() ? collect::devices_folder(context.store)
                                                            : std::filesystem::path(args.devices);
  std::error_code error;
  if (!args.devices.empty() && !std::filesystem::is_directory(folder, error))
    return bad_input(fmt::format("cannot read the devices in {}: {}", folder.native(),
                                 error ? error.message() : "it is no folder"));
  for (const auto& found : collect::load_calibrations(folder)) add_device(found, runs);
  if (shelf == nullptr) return {};
  ASSAY_TRY(const auto documents, shelf->list("device"));
  for (const auto& document : documents)
    add_device(collect::read_calibration(nlohmann::json::parse(document.json, nullptr, false),
                                         "the shared store, " + document.name),
               runs);
  return {};
}

void show_progress(const std::string& what) {
  if (isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r\033[K{}", what);
}

/// Where the file goes; its folder is there.
std::filesystem::path output_of(const TrainArguments& args, const Context& context) {
  if (!args.output.empty()) return args.output;
  std::filesystem::path usual = context.store.parent_path() / "placement.json";
  std::error_code ignored;
  std::filesystem::create_directories(usual.parent_path(), ignored);
  return usual;
}

/// Learning takes minutes: what cannot be written is better known before. A file is replaced by a
/// new one beside it.
Result<void> check_writable(const std::filesystem::path& file) {
  std::error_code error;
  const auto kind = std::filesystem::status(file, error).type();
  if (kind == std::filesystem::file_type::directory)
    return refused(fmt::format("cannot write {}: it is a folder", file.native()));
  auto place = std::filesystem::weakly_canonical(std::filesystem::absolute(file), error);
  if (error) place = std::filesystem::absolute(file);
  const bool is_replaced =
      kind == std::filesystem::file_type::regular || kind == std::filesystem::file_type::not_found;
  if (is_replaced) place = place.parent_path();
  if (::access(place.c_str(), W_OK) != 0)
    return refused_errno("cannot write " + file.native(), errno);
  return {};
}

/// Writes the file, and shares it where that was asked for. Returns where it is.
Result<std::string> keep(const std::filesystem::path& path, store::Shelf* shelf,
                         const std::string& file) {
  ASSAY_CHECK(write_file(path, file));
  if (shelf == nullptr) return path.native();
  ASSAY_CHECK(shelf->put("learned", "placement", file));
  return path.native() + " and the shared store";
}

Result<int> train(const TrainArguments& args, const Context& context) {
  std::unique_ptr<store::Shelf> shelf;
  if (!args.shared.empty()) {
    ASSAY_TRY(shelf, store::Shelf::open(args.shared));
  }
  const auto output = output_of(args, context);
  ASSAY_CHECK(check_writable(output));
  if (!args.report.empty()) ASSAY_CHECK(check_writable(args.report));
  std::optional<predict::Mapping> mapping;
  if (!args.mapping.empty()) {
    ASSAY_TRY(const auto text, read_named_file(args.mapping, kLargestMapping));
    ASSAY_TRY(mapping, predict::read_mapping(args.mapping, text));
  }
  ASSAY_TRY(auto runs, runs_of(args, mapping ? &*mapping : nullptr));
  std::optional<predict::Older> older;
  if (!args.update.empty()) {
    ASSAY_TRY(const auto text, read_named_file(args.update, kLargestTable));
    ASSAY_TRY(older, predict::read_older(args.update, text));
    predict::Runs all = older->runs;
    // Those that were only calibrated are read again, where they still are.
    std::erase_if(all.devices, [&](const predict::Device& device) {
      return std::none_of(all.tasks.begin(), all.tasks.end(),
                          [&](const predict::Task& task) { return task.device == device.name; });
    });
    predict::add_runs(all, runs);
    runs = std::move(all);
  }
  ASSAY_CHECK(add_all_devices(args, context, shelf.get(), runs));
  predict::TrainOptions options;
  options.seed = args.seed;
  options.mapping = mapping ? &*mapping : nullptr;
  options.progress = show_progress;
  ASSAY_TRY(const auto training, predict::train(runs, options));
  show_progress("");
  ASSAY_TRY(const std::string where, keep(output, shelf.get(), training.file));
  if (!args.report.empty())
    ASSAY_CHECK(write_file(args.report, predict::train_page(training.report)));
  if (args.json) {
    const auto document = predict::train_document(training.report);
    fmt::print("{}\n", document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  } else {
    fmt::print("{}", predict::train_text(training.report));
    if (older) fmt::print("{}", predict::update_text(*older, training.report));
    fmt::print("wrote {}\n", where);
  }
  return kDone;
}

}  // namespace

void add_train_command(CLI::App& app, Context& context) {
  auto* command =
      app.add_subcommand("train", "Learn how long models take on devices, from measurements");
  command->footer(
      "\nExamples:\n  assay train runs.csv --report model.html\n  assay train others.csv --mapping "
      "others.yaml -o model.json\n  assay train new.csv --update model.json -o model.json\n");
  auto args = std::make_shared<TrainArguments>();
  command->add_option("tables", args->tables, "Measurements, as assay collect writes them")
      ->type_name("CSV")
      ->required();
  command->add_option("--mapping", args->mapping, "What the columns of other tables are")
      ->type_name("FILE");
  command
      ->add_option("--devices", args->devices,
                   "Folder of devices that were calibrated (default: devices beside the history)")
      ->type_name("DIR");
  command
      ->add_option("-o,--output", args->output,
                   "The model file (default: placement.json beside the history, where "
                   "'assay predict' looks)")
      ->type_name("FILE");
  command->add_option("--report", args->report, "A page with pictures of how well it tells times")
      ->type_name("HTML");
  command
      ->add_option("--update", args->update,
                   "Learn also from what this model file was learned from")
      ->type_name("FILE");
  command->add_option("--seed", args->seed, "Of folds and trees (default: 0)")->type_name("N");
  command->add_flag("--json", args->json, "Print how well it tells times as JSON");
  add_shared_option(*command, args->shared);
  add_store_option(*command, context);
  command->callback(
      [args, &context] { context.action = [args, &context] { return train(*args, context); }; });
}

}  // namespace assay::cli
