// SPDX-License-Identifier: Apache-2.0
#include "commands.h"
#include "dim_options.h"
#include "exit_code.h"
#include "lock_options.h"
#include "share_options.h"
#include "signals.h"

#include <fmt/format.h>
#include <memory>
#include <unistd.h>

#include <assay/base/time.h>
#include <assay/collect/collect.h>

namespace assay::cli {
namespace {

constexpr const char* kFooter = R"(
Examples:
  assay model make --set models --count 60
  assay collect --models models --iterations 20 --device-type raspberrypi
  assay collect --models models --device-type desktop --engine opencv --engine onnxruntime-node -o both.csv
  assay collect --models models --device-type desktop --image-path photos --load idle
  assay collect --models models --cpus 0 --quota 0.5 --device-type half-a-core

Each row is written as soon as it is measured. Started again with the same file it goes on where it was.
)";

struct CollectArguments {
  collect::Options options;
  ShareArguments share;
  LockArguments lock;
  std::string load = "stress";
  std::vector<std::string> dims;
  bool gpu_needed = false;
};

Result<void> read_load(const std::string& word, collect::Options& options) {
  if (word == "stress") return {};
  options.load = collect::Load::idle;
  if (word == "idle") return {};
  ASSAY_TRY(options.backgrounds, collect::parse_backgrounds(word));
  return {};
}

std::string text_of(const collect::Progress& progress) {
  const auto left = std::chrono::seconds(static_cast<int64_t>(progress.seconds_left + 1));
  return fmt::format("{}/{}  {}  {}", progress.done, progress.total, progress.what,
                     progress.done < progress.total ? format_duration(left) + " left" : "");
}

/// One line that is drawn again on a terminal, a line for each row elsewhere.
void show(const collect::Progress& progress) {
  const bool terminal = ::isatty(STDERR_FILENO) != 0;
  std::string text = text_of(progress);
  if (terminal) text = text.substr(0, 100);
  fmt::print(stderr, "{}{}{}", terminal ? "\r\033[K" : "", text, terminal ? "" : "\n");
}

std::string summary(const collect::Collected& sum, const collect::Options& options) {
  std::string text = fmt::format("{} {} measured into {}", sum.measured,
                                 sum.measured == 1 ? "row" : "rows", options.file.native());
  if (sum.before > 0)
    text += fmt::format(", {} {} there", sum.before, sum.before == 1 ? "was" : "were");
  if (sum.refused > 0) text += fmt::format("; {} refused by an engine", sum.refused);
  if (sum.late > 0)
    text += fmt::format("; {} not in time beside other work, left for another call", sum.late);
  if (sum.outliers > 0) text += fmt::format("; {} marked as outliers", sum.outliers);
  if (sum.disturbed > 0)
    text += fmt::format(
        "; {} meant to be idle {} measured beside up to {:.0f} % load: something else is going on",
        sum.disturbed, sum.disturbed == 1 ? "was" : "were", sum.most_disturbed);
  return text;
}

Result<int> collect_rows(CollectArguments& args) {
  auto& options = args.options;
  if (options.device.empty()) return bad_input("--device-type: the device needs a name");
  ASSAY_CHECK(read_load(args.load, options));
  ASSAY_TRY(options.share, read_share(args.share));
  ASSAY_TRY(options.dims, read_dims(args.dims));
  if (args.gpu_needed && collect::find_gpu().empty())
    return refused("--gpu-needed: no GPU was found on this machine");
  options.gpu = args.gpu_needed;
  ASSAY_CHECK(collect::check(options));
  ASSAY_TRY(const auto inside, collect::enter(options.share));
  if (inside.ended) return *inside.ended;
  ASSAY_TRY(const auto lock, lock_device(args.lock, "assay collect for " + options.device));
  const Signals signals;
  const collect::Listener listener{show, [&] { return !signals.came(); }};
  const auto sum = collect::collect(options, listener);
  if (::isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r\033[K");
  if (!sum) return fail(sum.error());
  for (const auto& image : sum->bad_images)
    fmt::print(stderr, "assay: {} is no image that ffmpeg can read; it was left out\n", image);
  fmt::print("{}\n", summary(*sum, options));
  if (!sum->interrupted) return kDone;
  fmt::print(stderr, "assay: interrupted; the same command goes on where it was\n");
  return kInterrupted;
}

void add_what_options(CLI::App& command, CollectArguments& args) {
  auto& options = args.options;
  command.add_option("--models", options.models, "Folder of .onnx files, or one file")->required();
  command.add_option("--iterations", options.iterations, "Backgrounds for each model (100)")
      ->check(CLI::Range(1, 100'000));
  command
      .add_option("--device-type,--device_type", options.device,
                  "Name of this device in the table, e.g. raspberrypi, desktop, jetson")
      ->required();
  command.add_option(
      "--engine", options.engines,
      "opencv, onnxruntime-node, onnxruntime, or a command; may be repeated (opencv)");
  command.add_option("-o,--output", options.file, "Table to write or to go on with");
  command.add_option("--image-path,--image_path", options.images,
                     "Folder of .jpg and .png files to run on (random input)");
  command.add_option("--gpu-needed,--gpu_needed", args.gpu_needed,
                     "true: compute on a GPU, or refuse (false)");
  command.add_option("--family", options.family, "Family of all models (from their names)");
}

void add_how_options(CLI::App& command, CollectArguments& args) {
  auto& options = args.options;
  command.add_option("--load", args.load,
                     "What goes on beside: idle, stress (drawn at random), or in turn: "
                     "idle,1x50%,2x100%");
  command.add_option("--threads", options.threads, "Of the engine (as many as there are cores)")
      ->check(CLI::Range(1, 1024));
  command.add_option("--inferences", options.inferences, "Of one iteration, at most (300)")
      ->check(CLI::Range(1, 1'000'000));
  command.add_option("--seconds", options.seconds, "Of one iteration, about (1)")
      ->check(CLI::Range(0.01, 3600.0));
  command.add_option("--seed", options.seed, "Of backgrounds and inputs (0)");
  add_dim_option(command, args.dims);
  add_share_options(command, args.share);
  add_lock_options(command, args.lock);
}

}  // namespace

void add_collect_command(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand(
      "collect", "Time models on this device under varied load, to learn it from");
  const auto args = std::make_shared<CollectArguments>();
  command->footer(kFooter);
  add_what_options(*command, *args);
  add_how_options(*command, *args);
  command->callback([args, &context] {
    if (args->options.file.empty()) args->options.file = args->options.device + ".csv";
    context.action = [args] { return collect_rows(*args); };
  });
}

}  // namespace assay::cli
