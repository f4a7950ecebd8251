// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <assay/base/result.h>

namespace assay::cli {

/// What every command needs from the command line as a whole.
struct Context {
  std::filesystem::path store;             ///< --store, ASSAY_STORE or the default
  std::vector<std::string> words;          ///< what was typed, up to "--"
  std::vector<std::string> behind_dashes;  ///< what stood behind it
  /// Set by the command that was chosen; its result is the exit code.
  std::function<Result<int>()> action;
};

void add_analyze_command(CLI::App& app, Context& context);
void add_run_command(CLI::App& app, Context& context);
void add_check_command(CLI::App& app, Context& context);
void add_cleanup_command(CLI::App& app, Context& context);
void add_cluster_command(CLI::App& app, Context& context);
void add_history_command(CLI::App& app, Context& context);
void add_report_command(CLI::App& app, Context& context);
void add_top_command(CLI::App& app, Context& context);
void add_model_command(CLI::App& app, Context& context);
void add_predict_command(CLI::App& app, Context& context);
void add_place_command(CLI::App& app, Context& context);
void add_serve_command(CLI::App& app, Context& context);
void add_train_command(CLI::App& app, Context& context);
void add_doctor_command(CLI::App& app, Context& context);
void add_collect_command(CLI::App& app, Context& context);
void add_device_command(CLI::App& app, Context& context);
/// `make`, below the command `model`.
void add_model_make_command(CLI::App& model, Context& context);
void add_completion_command(CLI::App& app, Context& context);

/// What `assay report --format` takes.
inline constexpr std::array kFormats = {"html", "json", "csv", "junit", "text"};

/// What `assay top --sort` takes; columns of reported values beside.
inline constexpr std::array kTopOrders = {"cores",   "memory", "name",  "fps",   "kind",
                                          "network", "disk",   "power", "goals", "age"};

/// Adds the option that all commands with a history share.
void add_store_option(CLI::App& command, Context& context);

/// For commands that only read: of a file that --store names and that is not there, an error says
/// so, where opening it would make an empty one.
Result<void> check_named_store(const Context& context);

}  // namespace assay::cli
