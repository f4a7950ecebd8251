// SPDX-License-Identifier: Apache-2.0
#include "cluster_commands.h"
#include "exit_code.h"
#include "placement_options.h"
#include "trial_options.h"

#include <fmt/format.h>
#include <memory>

#include <assay/base/wording.h>

namespace assay::cli {
namespace {

using cluster::TrialReport;

struct RecommendArguments {
  std::string name;
  std::string shared;
  QuestionOptions question;
  bool json = false;
};

std::string whole_name(const TrialReport& report) {
  return report.name_space + "." + report.trial;
}

std::string without_answer(const TrialReport& report) {
  if (cluster::nothing_is_known(report)) return "nothing is known";
  const bool bounded = report.question.budget > 0 || report.question.deadline > 0;
  return bounded ? "nothing within the bounds" : "nothing works";
}

/// One line for each: what was tried, and what was found.
void tell_all(const std::vector<TrialReport>& reports) {
  for (const auto& report : reports) {
    const auto plan = cluster::judge(report).plan;
    fmt::print("{:<40} {:<24} {}{}\n", whole_name(report),
               plan.answer ? cluster::name_of(report.choices[*plan.answer], report.resource)
                           : without_answer(report),
               report.question.want == cluster::Question::Want::fastest ? "fastest" : "cheapest",
               plan.clear ? "" : ", not clear");
  }
}

Result<const TrialReport*> find(const std::vector<TrialReport>& reports, const std::string& name) {
  const TrialReport* found = nullptr;
  for (const auto& report : reports) {
    if (whole_name(report) == name) return &report;
    if (report.trial != name) continue;
    if (found != nullptr)
      return bad_input(fmt::format("several namespaces have trials of {}; write {}",
                                   in_quotes(name), whole_name(report)));
    found = &report;
  }
  if (found == nullptr)
    return bad_input(fmt::format("there are no trials of {}; 'assay cluster recommend' lists all",
                                 in_quotes(name)));
  return found;
}

/// Not the question of the trials with other prices.
bool asks_anew(const QuestionOptions& question) {
  return !question.want.empty() || question.work > 0 || question.budget > 0 ||
         !question.deadline.empty();
}

Result<int> recommend(const RecommendArguments& args, const Context& context) {
  const TrialFolder folder(context.store.parent_path() / "trials", args.shared);
  ASSAY_TRY(const auto reports, folder.read());
  if (reports.empty())
    return bad_input("there are no trials yet: assay cluster trial -f job.yaml --gpus ...");
  if (args.name.empty() && reports.size() > 1) {
    tell_all(reports);
    return kDone;
  }
  ASSAY_TRY(const TrialReport* found, args.name.empty()
                                          ? Result<const TrialReport*>(&reports.front())
                                          : find(reports, args.name));
  TrialReport report = *found;
  if (asks_anew(args.question)) report.question.budget = report.question.deadline = 0;
  ASSAY_CHECK(read_question(args.question, report.question));
  ASSAY_CHECK(cluster::check_question(report.question, report.choices));
  fmt::print("{}{}", args.json ? cluster::report_json(report) : cluster::report_text(report),
             args.json ? "\n" : "");
  if (cluster::nothing_is_known(report)) return kRefused;
  return cluster::judge(report).plan.answer ? kDone : kGoalMissed;
}

}  // namespace

void add_cluster_recommend_command(CLI::App& cluster, Context& context) {
  auto* command = cluster.add_subcommand(
      "recommend", "Say which GPUs a job should get, by what its trials told");
  command->footer(R"(
Examples:
  assay cluster recommend                                      all trials, or the only ones
  assay cluster recommend train --want cheapest --price 'T4=0.35;A100=2.9'
  assay cluster recommend lab.train --work 1e6 --deadline 8h

With --want, --work, --budget or --deadline, bounds of the trials do not count; else their question is asked again.
)");
  auto args = std::make_shared<RecommendArguments>();
  command->add_option("name", args->name, "Of the trials (default: the only ones, or a list)")
      ->type_name("NAME");
  command->add_flag("--json", args->json, "Print everything as JSON");
  add_question_options(*command, args->question);
  add_shared_option(*command, args->shared);
  add_store_option(*command, context);
  command->callback([args, &context] {
    context.action = [args, &context] { return recommend(*args, context); };
  });
}

}  // namespace assay::cli
