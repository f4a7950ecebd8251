// SPDX-License-Identifier: Apache-2.0
#include "commands.h"
#include "dim_options.h"
#include "exit_code.h"
#include "terminal.h"

#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

#include <assay/base/text.h>
#include <assay/base/wording.h>
#include <assay/model/split.h>

namespace assay::cli {
namespace {

struct ModelArguments {
  std::string file;
  std::vector<std::string> dims;
  bool json = false;
  // Of split.
  std::string tensor;
  std::string folder = ".";
  bool list = false;
};

Result<int> inspect(const ModelArguments& args) {
  ASSAY_TRY(const auto options, read_dims(args.dims));
  ASSAY_TRY(const auto found, model::inspect(args.file, options));
  if (args.json) {
    const auto document = model::inspection_document(found);
    fmt::print("{}\n", document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    return kDone;
  }
  const Look look = output_look();
  fmt::print("{}", model::inspection_text(found, look.color, look.columns));
  return kDone;
}

void add_inspect(CLI::App& parent, Context& context) {
  auto* command = parent.add_subcommand("inspect", "What an ONNX model is and costs");
  command->footer(
      "\nExamples:\n  assay model inspect resnet50.onnx\n  assay model inspect bert.onnx --dim "
      "batch=1 --dim sequence=128 --json\n");
  auto args = std::make_shared<ModelArguments>();
  command->add_option("file", args->file, "The model")->type_name("FILE")->required();
  command->add_flag("--json", args->json, "Print everything as JSON");
  add_dim_option(*command, args->dims);
  command->callback([args, &context] { context.action = [args] { return inspect(*args); }; });
}

Result<int> list_cuts(const ModelArguments& args, const model::TraceOptions& options) {
  ASSAY_TRY(const auto file, model::MappedFile::open(args.file));
  ASSAY_TRY(const auto scanned, model::scan(file.bytes(), args.file, &file));
  ASSAY_TRY(const auto traced, model::trace(scanned, options));
  ASSAY_CHECK(model::check_dims(traced, options));
  const auto cuts = model::cut_points(traced);
  if (args.json) {
    const auto document = model::cuts_document(cuts);
    fmt::print("{}\n", document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    return kDone;
  }
  const Look look = output_look();
  fmt::print("{}", model::cuts_text(cuts, look.color, look.columns));
  return kDone;
}

Result<int> split(const ModelArguments& args) {
  ASSAY_TRY(const auto options, read_dims(args.dims));
  if (args.tensor.empty()) return list_cuts(args, options);
  ASSAY_TRY(const auto parts, model::split(args.file, args.tensor, args.folder, options));
  fmt::print("wrote {} and {}\n", parts.first.native(), parts.second.native());
  return kDone;
}

void add_split(CLI::App& parent, Context& context) {
  auto* command = parent.add_subcommand("split", "Cut a model in two where one tensor crosses");
  command->footer(
      "\nExamples:\n  assay model split resnet50.onnx --list\n  assay model split resnet50.onnx "
      "--at "
      "pool1 -o parts\nThe first part's output is the second one's input. Files with external "
      "weights are copied\nbeside the parts, unless DIR is the model's own folder.\n");
  auto args = std::make_shared<ModelArguments>();
  command->add_option("file", args->file, "The model")->type_name("FILE")->required();
  auto* at = command->add_option("--at", args->tensor, "The tensor to cut at")->type_name("TENSOR");
  command->add_flag("--list", args->list, "Print where it can be cut (default)")->excludes(at);
  command->add_option("-o,--output", args->folder, "Folder for the two parts (default: this one)")
      ->type_name("DIR");
  command->add_flag("--json", args->json, "Print the list as JSON");
  add_dim_option(*command, args->dims);
  command->callback([args, &context] { context.action = [args] { return split(*args); }; });
}

}  // namespace

void add_model_command(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("model", "Inspect, split and make ONNX models");
  command->require_subcommand(1);
  add_inspect(*command, context);
  add_split(*command, context);
  add_model_make_command(*command, context);
}

}  // namespace assay::cli
