// SPDX-License-Identifier: Apache-2.0
#include "commands.h"
#include "exit_code.h"

#include <cstdio>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <system_error>

#include <assay/base/text.h>
#include <assay/zoo/zoo.h>

namespace assay::cli {
namespace {

constexpr const char* kFooter = R"(
Examples:
  assay model make resnet50                              as published, into resnet50.onnx
  assay model make mobilenet --variant v3-large --width 0.75 --resolution 160
  assay model make bert --layers 4 --hidden 256 --heads 4 --sequence 64 -o encoder.onnx
  assay model make nasbench201 --cell '|nor_conv_3x3~0|+|none~0|skip_connect~1|+|skip_connect~0|none~1|nor_conv_1x1~2|'
  assay model make --set models --count 60               a varied set, to learn your device from

The weights are random: the models take as long as real ones and answer nonsense.
The same command writes the same bytes.
)";

struct MakeArguments {
  zoo::Recipe recipe;
  std::string file;
  std::string set;
  size_t count = 100;
  bool list = false;
};

std::string size_text(const zoo::Made& made) {
  return fmt::format("{} parameters, {}, {}", format_number(static_cast<double>(made.parameters)),
                     format_bytes(static_cast<double>(made.bytes)), fmt::join(made.inputs, ", "));
}

Result<int> list_families() {
  fmt::print("{:<14}{:<44}{}\n", "FAMILY", "VARIANTS", "OPTIONS OF ITS OWN");
  for (const auto& family : zoo::families()) {
    // The long row of variants gets a line of its own.
    const std::string variants = fmt::format("{}", fmt::join(family.variants, ", "));
    const auto* gap = variants.size() > 42 ? "\n" : "";
    fmt::print("{:<14}{}{}{:<{}}--{}\n", family.name, variants, gap, "",
               variants.size() > 42 ? 58 : 44 - variants.size(), fmt::join(family.options, ", --"));
    fmt::print("{:<14}{}\n", "", family.about);
  }
  fmt::print(
      "\nAll take --width, --depth, --batch, --classes and --seed; the first variant is what the "
      "bare name means.\n");
  return kDone;
}

Result<int> make_set(const MakeArguments& args) {
  const std::filesystem::path folder = args.set;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return refused(fmt::format("cannot make the folder {}: {}", folder.native(), error.message()));
  }
  double bytes = 0;
  for (const auto& recipe : zoo::training_set(args.count, args.recipe.seed)) {
    ASSAY_TRY(const auto name, zoo::model_name(recipe));
    ASSAY_TRY(const auto made, zoo::make_model(recipe, folder / (name + ".onnx")));
    fmt::print("{}: {}\n", made.file.native(), size_text(made));
    bytes += static_cast<double>(made.bytes);
  }
  fmt::print("{} models of {} families in {}, {}\n", args.count,
             std::min(args.count, zoo::families().size()), folder.native(), format_bytes(bytes));
  return kDone;
}

Result<int> make_one(const MakeArguments& args) {
  ASSAY_TRY(const auto name, zoo::model_name(args.recipe));
  const std::string file = args.file.empty() ? name + ".onnx" : args.file;
  ASSAY_TRY(const auto made, zoo::make_model(args.recipe, file));
  fmt::print("{}: {}\n", made.file.native(), size_text(made));
  return kDone;
}

Result<int> make(const MakeArguments& args) {
  if (args.list) return list_families();
  if (args.set.empty()) return make_one(args);
  if (!args.recipe.family.empty() || !args.file.empty()) {
    return bad_input("--set chooses families and file names by itself; leave FAMILY and -o away");
  }
  return make_set(args);
}

void add_size_options(CLI::App& command, zoo::Recipe& recipe) {
  command.add_option("--variant", recipe.variant, "A published one, e.g. 50 of resnet");
  command.add_option("--width", recipe.width, "Times the channels of every layer (1)");
  command.add_option("--depth", recipe.depth, "Times the blocks of every stage (1)");
  command.add_option("--resolution", recipe.resolution, "Height and width of the image");
  command.add_option("--batch", recipe.batch, "Inputs at once (1)");
  command.add_option("--classes", recipe.classes, "Size of the answer");
  command.add_option("--seed", recipe.seed, "Of the random weights (0)");
}

void add_family_options(CLI::App& command, zoo::Recipe& recipe) {
  constexpr const char* kGroup = "Options of some families";
  command.add_option("--layers", recipe.layers, "bert, vit, lstm: how many")->group(kGroup);
  command.add_option("--hidden", recipe.hidden, "bert, vit, lstm: features")->group(kGroup);
  command.add_option("--heads", recipe.heads, "bert, vit: of the attention")->group(kGroup);
  command.add_option("--sequence", recipe.sequence, "bert, lstm: positions")->group(kGroup);
  command.add_flag("--bidirectional", recipe.bidirectional, "lstm: both ways")->group(kGroup);
  command.add_option("--cell", recipe.cell, "nasbench201: architecture string")->group(kGroup);
}

}  // namespace

void add_model_make_command(CLI::App& model, Context& context) {
  auto* command = model.add_subcommand("make", "Write an ONNX model of a known family, any size");
  const auto args = std::make_shared<MakeArguments>();
  command->footer(kFooter);
  command->add_option("family", args->recipe.family, "e.g. resnet, or with its variant: resnet50");
  add_size_options(*command, args->recipe);
  add_family_options(*command, args->recipe);
  command->add_option("-o,--output", args->file, "File to write (the model's name)");
  command->add_flag("--list", args->list, "Show the families, their variants and options");
  command->add_option("--set", args->set, "Write a varied set of models into this folder");
  command->add_option("--count", args->count, "Models of the set (100)")
      ->check(CLI::Range(1, 100000));
  command->callback([args, &context] { context.action = [args] { return make(*args); }; });
}

}  // namespace assay::cli
