// SPDX-License-Identifier: Apache-2.0
#include "commands.h"
#include "exit_code.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fmt/format.h>

#include <assay/base/text.h>
#include <assay/launch/launcher.h>
#include <assay/store/store.h>

namespace assay::cli {

void add_store_option(CLI::App& command, Context& context) {
  // No envname here: default_store_path() has read ASSAY_STORE, and CLI11 would let the variable of
  // a command that was not chosen win over this option.
  command
      .add_option("--store", context.store,
                  "History file (default: ASSAY_STORE, else the XDG data folder)")
      ->type_name("FILE")
      ->group("History");
}

namespace {

constexpr const char* kFooter = R"(
Examples:
  assay run -- python3 detect.py --input video.mp4   profile a command
  assay run sage.yaml                                 every target of an application's spec
  assay run --pid 4711 --for 30s                      what already runs
  assay check sage.yaml                               the plan and every error, starting nothing
  assay history show last                             what the newest session found
  assay report last --format html -o report.html      one page to open, mail or print
  assay doctor                                        what this machine can measure

Exit codes:
  0 done and goals met · 99 a goal missed · 2 bad input · 3 the app failed
  4 this machine refused (no permission, disk full) · 130 interrupted

Environment:
  ASSAY_STORE    history file (default: assay/history.db in the XDG data folder)
  ASSAY_SOCKET   set for the app: where it reports its own metrics
  NO_COLOR       no colours in the terminal
)";

/// CLI11 only says that a command is missing; a person wants to know which word was wrong.
Result<void> check_command_word(const CLI::App& app, const std::string& word) {
  if (word.starts_with("-")) return {};
  std::vector<std::string> names;
  for (const auto* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(sub->get_name());
  }
  if (std::find(names.begin(), names.end(), word) != names.end()) return {};
  const auto near = nearest(word, std::vector<std::string_view>(names.begin(), names.end()));
  return bad_input(
      fmt::format("unknown command '{}'; {}", word,
                  near ? fmt::format("did you mean '{}'?", *near) : "see assay --help"));
}

int run(int argc, char** argv) {
  Context context;
  context.store = store::default_store_path();
  CLI::App app("Assay tells what an application costs on this machine and where the time goes.",
               "assay");
  app.set_version_flag("--version", "assay " ASSAY_VERSION);
  app.require_subcommand(1);
  app.footer(kFooter);
  app.get_formatter()->column_width(34);
  add_run_command(app, context);
  add_check_command(app, context);
  add_history_command(app, context);
  add_report_command(app, context);
  add_doctor_command(app, context);
  add_completion_command(app, context);

  if (argc > 1) {
    if (const auto known = check_command_word(app, argv[1]); !known) {
      fmt::print(stderr, "assay: {}\n", known.error().message);
      return kBadInput;
    }
  }
  // Everything behind "--" is the app's command line and none of our business.
  int ours = argc;
  for (int i = 1; i < argc && ours == argc; ++i) {
    if (std::strcmp(argv[i], "--") == 0) ours = i;
  }
  for (int i = ours + 1; i < argc; ++i) context.behind_dashes.emplace_back(argv[i]);

  try {
    app.parse(ours, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? kDone : kBadInput;
  }
  const auto result = context.action();
  if (result) return *result;
  fmt::print(stderr, "assay: {}\n", result.error().message);
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
    return assay::cli::run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "assay: unexpected: %s; please report this\n", e.what());
    return assay::cli::kRefused;
  }
}
