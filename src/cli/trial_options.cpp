// SPDX-License-Identifier: Apache-2.0
#include "trial_options.h"

#include "duration_option.h"
#include "positive.h"

#include <algorithm>
#include <fmt/format.h>

#include <assay/base/files.h>
#include <assay/base/time.h>
#include <assay/base/wording.h>
#include <assay/store/shelf.h>

namespace assay::cli {
namespace {

constexpr const char* kShelfKind = "trial";

std::string name_of(const cluster::TrialReport& report) {
  return report.name_space + "." + report.trial;
}

bool has_measured(const cluster::TrialReport& report) {
  return std::any_of(report.trials.begin(), report.trials.end(),
                     [](const auto& trial) { return trial.end == cluster::TrialEnd::measured; });
}

/// Whether the report has to leave what is kept in its place.
bool is_worth_less(const cluster::TrialReport& report, std::string_view kept) {
  if (has_measured(report)) return false;
  const auto old = cluster::read_report(kept);
  return old && has_measured(*old);
}

}  // namespace

void add_question_options(CLI::App& command, QuestionOptions& options) {
  constexpr const char* kGroup = "Question";
  command
      .add_option("--want", options.want, "What is best: fastest (default), or cheapest per unit")
      ->check(CLI::IsMember({"fastest", "cheapest"}))
      ->group(kGroup);
  command
      .add_option("--price", options.prices,
                  "What an hour of one costs: 'Tesla-T4=0.35;A100=2.9', or one price for all")
      ->type_name("PRICES")
      ->group(kGroup);
  command.add_option("--work", options.work, "How many units are to be done in all")
      ->check(is_positive)
      ->group(kGroup);
  command.add_option("--budget", options.budget, "What they may cost")
      ->check(is_positive)
      ->group(kGroup);
  command.add_option("--deadline", options.deadline, "How long they may take, e.g. 8h")
      ->type_name("TIME")
      ->group(kGroup);
}

Result<void> read_question(const QuestionOptions& options, cluster::Question& question) {
  using Want = cluster::Question::Want;
  if (!options.want.empty())
    question.want = options.want == "cheapest" ? Want::cheapest : Want::fastest;
  if (!options.prices.empty()) {
    ASSAY_TRY(question.prices, cluster::parse_prices(options.prices));
  }
  if (options.work > 0) question.work = options.work;
  if (options.budget > 0) question.budget = options.budget;
  if (!options.deadline.empty()) {
    ASSAY_TRY(const auto deadline, duration_of("--deadline", options.deadline));
    if (deadline.count() <= 0) return bad_input("--deadline has to be longer than nothing");
    question.deadline = seconds(deadline);
  }
  return {};
}

Result<bool> TrialFolder::keep(const cluster::TrialReport& report) const {
  const std::string json = cluster::report_json(report);
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  const auto file = folder_ / (name_of(report) + ".json");
  const auto kept = read_file(file);
  bool all = !kept || !is_worth_less(report, *kept);
  if (all) ASSAY_CHECK(write_file(file, json + "\n"));
  if (shared_.empty()) return all;
  ASSAY_TRY(const auto shelf, store::Shelf::open(shared_));
  ASSAY_TRY(const auto shared, shelf->find(kShelfKind, name_of(report)));
  if (shared && is_worth_less(report, shared->json)) return false;
  ASSAY_CHECK(shelf->put(kShelfKind, name_of(report), json));
  return all;
}

Result<std::vector<cluster::TrialReport>> TrialFolder::read() const {
  std::vector<cluster::TrialReport> reports;
  if (!shared_.empty()) {
    ASSAY_TRY(const auto shelf, store::Shelf::open(shared_));
    ASSAY_TRY(const auto documents, shelf->list(kShelfKind));
    for (const auto& document : documents)
      if (auto report = cluster::read_report(document.json)) reports.push_back(std::move(*report));
    return reports;
  }
  std::error_code error;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, error))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    ASSAY_TRY(const auto text, read_file(file));
    auto report = cluster::read_report(text);
    if (!report) return bad_input(fmt::format("{}: {}", file.native(), report.error().message));
    reports.push_back(std::move(*report));
  }
  return reports;
}

}  // namespace assay::cli
