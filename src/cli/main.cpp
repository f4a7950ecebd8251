// SPDX-License-Identifier: Apache-2.0
#include "commands.h"
#include "exit_code.h"
#include "spec_options.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <system_error>

#include <assay/base/text.h>
#include <assay/launch/launcher.h>
#include <assay/store/store.h>

namespace assay::cli {

namespace {

constexpr const char* kFooter = R"(
Examples:
  assay run -- python3 detect.py --input video.mp4   profile a command
  assay run sage.yaml                                 every target of an application's spec
  assay run --pid 4711 --for 30s                      what already runs
  assay check sage.yaml                               the plan and every error, starting nothing
  assay history show last                             what the newest session found
  assay report last --format html -o report.html      one page to open, mail or print
  assay top                                           the apps of a node, live, from its agent
  assay model inspect net.onnx                        what a model costs, without running it
  assay device calibrate                              what this machine can compute, move and store
  assay cluster profile --prometheus http://HOST:9090 what jobs on Kubernetes use and will use
  assay collect --models DIR --device-type desktop    time models under load, to learn from
  assay doctor                                        what this machine can measure

Exit codes:
  0 done and goals met · 99 a goal missed · 2 bad input · 3 the app failed
  4 this machine refused (no permission, disk full) · 130 interrupted

Environment:
  ASSAY_STORE    history file (default: assay/history.db in the XDG data folder)
  ASSAY_LOCK     held by the one session that measures (default: /run/lock/assay.lock)
  ASSAY_SOCKET   set for the app: where it reports its own metrics
  ASSAY_URL      the agent that `assay top` asks; ASSAY_TOKEN goes with it
  NO_COLOR       no colours in the terminal
)";

/// CLI11 only says that a command is missing; a person wants to know which word was wrong.
Result<void> check_command_word(const CLI::App& app, const std::string& word) {
  if (word.starts_with("-")) return {};
  const bool is_below = app.get_parent() != nullptr;
  std::vector<std::string> names;
  for (const auto* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(sub->get_name());
  }
  if (std::find(names.begin(), names.end(), word) != names.end()) return {};
  const auto near = nearest(word, std::vector<std::string_view>(names.begin(), names.end()));
  if (is_below)
    return bad_input(fmt::format("unknown command '{} {}'; there are: {}", app.get_name(), word,
                                 fmt::join(names, ", ")));
  return bad_input(
      fmt::format("unknown command '{}'; {}", word,
                  near ? fmt::format("did you mean '{}'?", *near) : "see assay --help"));
}

/// The first word, and the second of a command that has commands of its own.
Result<void> check_command_words(const CLI::App& app, const std::vector<std::string>& words) {
  if (words.size() < 2) return {};
  ASSAY_CHECK(check_command_word(app, words[1]));
  if (words[1].starts_with("-") || words.size() < 3) return {};
  const auto* const command = app.get_subcommand(words[1]);
  if (command->get_require_subcommand_min() == 0) return {};
  return check_command_word(*command, words[2]);
}

void print_error(const Error& error) {
  std::string_view rest = error.message;
  while (!rest.empty()) fmt::print(stderr, "assay: {}\n", next_field(rest, '\n'));
}

/// "assay run" of `assay run --tiemout 3s`, for the way to its help.
std::string command_name(const CLI::App& app) {
  std::string name = app.get_name();
  for (const auto* sub : app.get_subcommands()) name += " " + command_name(*sub);
  return name;
}

/// "; did you mean --timeout?" for the first word that no option has.
std::string nearest_option(const CLI::App& app) {
  for (const auto* sub : app.get_subcommands()) {
    if (auto found = nearest_option(*sub); !found.empty()) return found;
  }
  const auto unknown = app.remaining();
  if (unknown.empty() || !unknown.front().starts_with("--")) return "";
  std::vector<std::string> names;
  for (const auto* option : app.get_options()) {
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  }
  const auto near =
      nearest(unknown.front(), std::vector<std::string_view>(names.begin(), names.end()));
  return near ? fmt::format("; did you mean {}?", *near) : "";
}

/// What CLI11 did not understand, in our words.
Error explain(const CLI::ParseError& error, const CLI::App& app, const Context& context) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    for (const auto* sub : app.get_subcommands()) {
      const auto* spec = sub->get_option_no_throw("spec");
      if (spec == nullptr || spec->results().empty()) continue;
      if (const auto meant = forgotten_dashes(spec->results().front(), context))
        return {ErrorKind::input, *meant};
    }
  }
  return {ErrorKind::input, fmt::format("{}{} (see {} --help)", error.what(), nearest_option(app),
                                        command_name(app))};
}

/// `assay help run` is `assay run --help`.
std::vector<std::string> without_help_word(std::vector<std::string> words) {
  if (words.size() < 2 || words[1] != "help") return words;
  words.erase(words.begin() + 1);
  words.emplace_back("--help");
  return words;
}

/// Everything behind "--" is the app's command line and none of our business.
void take_words(std::vector<std::string> words, Context& context) {
  const auto dashes = std::find(words.begin(), words.end(), "--");
  if (dashes != words.end()) context.behind_dashes.assign(dashes + 1, words.end());
  words.erase(dashes, words.end());
  words.front() = "assay";
  context.words = without_help_word(std::move(words));
}

void add_commands(CLI::App& app, Context& context) {
  app.set_version_flag("--version", "assay " ASSAY_VERSION);
  app.require_subcommand(1);
  app.footer(kFooter);
  app.get_formatter()->column_width(34);
  add_run_command(app, context);
  add_check_command(app, context);
  add_history_command(app, context);
  add_report_command(app, context);
  add_top_command(app, context);
  add_model_command(app, context);
  add_device_command(app, context);
  add_collect_command(app, context);
  add_analyze_command(app, context);
  add_train_command(app, context);
  add_predict_command(app, context);
  add_place_command(app, context);
  add_serve_command(app, context);
  add_cluster_command(app, context);
  add_doctor_command(app, context);
  add_cleanup_command(app, context);
  add_completion_command(app, context);
  app.add_subcommand("help", "Tell more about a command");
}

int run(int argc, char** argv) {
  Context context;
  context.store = store::default_store_path();
  CLI::App app("Assay tells what an application costs on this machine and where the time goes.",
               "assay");
  add_commands(app, context);
  take_words(std::vector<std::string>(argv, argv + argc), context);
  if (const auto known = check_command_words(app, context.words); !known) {
    print_error(known.error());
    return kBadInput;
  }
  try {
    app.parse(std::vector<std::string>(context.words.rbegin(), context.words.rend() - 1));
  } catch (const CLI::Success& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    print_error(explain(e, app, context));
    return kBadInput;
  }
  const auto result = context.action();
  if (result) return *result;
  print_error(result.error());
  return exit_code(result.error());
}

}  // namespace
}  // namespace assay::cli

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "keeper") == 0) {
    const auto fd = assay::parse_int(argv[2]);
    return fd ? assay::launch::keeper_main(static_cast<int>(*fd)) : assay::cli::kBadInput;
  }
  try {
    const int code = assay::cli::run(argc, argv);
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
    std::fputs("assay: the output could not be written whole: is the disk full?\n", stderr);
    return assay::cli::kRefused;
  } catch (const std::system_error& e) {
    std::fprintf(stderr, "assay: the output could not be written: %s\n", e.what());
    return assay::cli::kRefused;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "assay: unexpected: %s; please report this\n", e.what());
    return assay::cli::kRefused;
  }
}
