// SPDX-License-Identifier: Apache-2.0
#include "commands.h"
#include "exit_code.h"
#include "terminal.h"

#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

#include <assay/base/text.h>
#include <assay/base/wording.h>
#include <assay/model/inspect.h>

namespace assay::cli {
namespace {

struct ModelArguments {
  std::string file;
  std::vector<std::string> dims;
  bool json = false;
};

/// "batch=4" of --dim.
Result<model::TraceOptions> bound_dims(const std::vector<std::string>& words) {
  model::TraceOptions options;
  for (const auto& word : words) {
    const size_t equals = word.rfind('=');
    const auto size = equals == std::string::npos || equals == 0
                          ? std::nullopt
                          : parse_int(std::string_view(word).substr(equals + 1));
    if (!size || *size < 1 || *size > model::kLargestDim)
      return bad_input(
          fmt::format("--dim takes NAME=N with a size of at least 1, as in "
                      "--dim batch=1; {} is none",
                      in_quotes(word)));
    options.dims[word.substr(0, equals)] = *size;
  }
  return options;
}

Result<int> inspect(const ModelArguments& args) {
  ASSAY_TRY(const auto options, bound_dims(args.dims));
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
  command
      ->add_option("--dim", args->dims,
                   "Size of a dimension that the file only names (default: 1); may be repeated")
      ->type_name("NAME=N")
      ->allow_extra_args(false);
  command->callback([args, &context] { context.action = [args] { return inspect(*args); }; });
}

}  // namespace

void add_model_command(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("model", "Inspect and split ONNX models");
  command->require_subcommand(1);
  add_inspect(*command, context);
}

}  // namespace assay::cli
