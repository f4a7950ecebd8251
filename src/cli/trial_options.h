// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include <assay/cluster/trial_report.h>

namespace assay::cli {

/// What is asked of trials, as commands are told.
struct QuestionOptions {
  std::string want;
  std::string prices;
  double work = 0;
  double budget = 0;
  std::string deadline;
};
void add_question_options(CLI::App& command, QuestionOptions& options);
/// What was not said stays as it is in `question`.
Result<void> read_question(const QuestionOptions& options, cluster::Question& question);

/// Keeps reports in a folder, one file each, and on a shelf that machines share when `shared` is
/// not empty.
class TrialFolder {
 public:
  TrialFolder(std::filesystem::path folder, std::string shared)
      : folder_(std::move(folder)), shared_(std::move(shared)) {}

  /// False: nothing was measured in it, and one of its name in which something was stays.
  Result<bool> keep(const cluster::TrialReport& report) const;
  /// All that are there, by name.
  Result<std::vector<cluster::TrialReport>> read() const;
  const std::filesystem::path& folder() const { return folder_; }

 private:
  const std::filesystem::path folder_;
  const std::string shared_;
};

}  // namespace assay::cli
