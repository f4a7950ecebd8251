// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include <assay/base/text.h>
#include <assay/cluster/trial_report.h>

namespace assay::cluster {
namespace {

using Want = Question::Want;

/// Money for a million units is a number that people can read.
constexpr double kMillion = 1e6;

std::string unit_of(const TrialReport& report) {
  return report.unit.empty() ? "/s" : " " + report.unit;
}

std::string speed_text(const TrialReport& report, const Standing& standing) {
  return fmt::format("{}{} ± {:.0f} %", format_number(standing.throughput.value), unit_of(report),
                     std::max(1.0, 100 * standing.throughput.sd));
}

std::string bounds_text(const Question& question) {
  std::string text;
  if (question.budget > 0) text += fmt::format(" within {}", format_number(question.budget));
  if (question.deadline > 0)
    text += fmt::format("{} {}", text.empty() ? " within" : " and",
                        format_duration(from_seconds(question.deadline)));
  return text;
}

bool any_measured(const TrialReport& report) {
  return std::any_of(report.trials.begin(), report.trials.end(),
                     [](const auto& one) { return one.end == TrialEnd::measured; });
}

std::string answer_text(const TrialReport& report, const Plan& plan) {
  const Question& question = report.question;
  if (!plan.answer) {
    const bool lost = std::any_of(report.trials.begin(), report.trials.end(),
                                  [](const auto& one) { return one.end == TrialEnd::lost; });
    if (lost && !any_measured(report)) return "Nothing was measured, so that nothing is known.\n";
    const bool bounded = question.budget > 0 || question.deadline > 0;
    return fmt::format("None of these choices {}{}.\n", bounded ? "does it" : "works",
                       bounds_text(question));
  }
  const Standing& standing = plan.standings[*plan.answer];
  std::string text = fmt::format("{}: {}{}, {}{}", name_of(report.choices[*plan.answer]),
                                 question.want == Want::fastest ? "fastest" : "cheapest",
                                 bounds_text(question), speed_text(report, standing),
                                 standing.tried ? "" : " (told by its law, not tried)");
  if (standing.seconds)
    text += fmt::format("; {} units take {}", format_number(question.work),
                        format_duration(from_seconds(*standing.seconds)));
  if (standing.cost) text += fmt::format(" and cost {}", format_number(*standing.cost));
  text += fmt::format(".\n{}: with {:.0f} % it is the best, or less than {:.0f} % behind it.\n",
                      plan.clear ? "That is clear" : "That is not clear", 100 * standing.best,
                      100 * question.close);
  return text;
}

void add_other(const TrialReport& report, const Plan& plan, const std::optional<size_t>& other,
               const char* what, std::string& text) {
  if (!other || other == plan.answer) return;
  const Standing& standing = plan.standings[*other];
  text += fmt::format("{} is {}: {}", name_of(report.choices[*other]), what,
                      speed_text(report, standing));
  if (standing.unit_cost)
    text += fmt::format(", {} for a million units", format_number(kMillion * *standing.unit_cost));
  text += ".\n";
}

const TrialResult* last_of(const TrialReport& report, const Choice& choice) {
  for (auto trial = report.trials.rbegin(); trial != report.trials.rend(); ++trial)
    if (trial->choice == choice) return &*trial;
  return nullptr;
}

std::string or_dash(const std::optional<double>& value, double scale) {
  return value ? format_number(scale * *value) : "-";
}

std::string row_of(const TrialReport& report, const Plan& plan, size_t i) {
  const Standing& standing = plan.standings[i];
  const TrialResult* trial = last_of(report, report.choices[i]);
  const std::string name = name_of(report.choices[i]);
  for (const auto& ruled : report.ruled)
    if (ruled.choice == i) return fmt::format("  {:<22} no room: {}\n", name, ruled.reason);
  if (trial != nullptr && trial->end != TrialEnd::measured && !standing.tried)
    return fmt::format("  {:<22} {}\n", name, trial->reason);
  if (trial == nullptr || trial->end != TrialEnd::measured) {
    const bool unknown = standing.throughput.sd > 2;
    return fmt::format("  {:<22} {:>10} {:>7} {:>6} {:>9} {:>7} {:>10} {:>6.0f} %  not tried\n",
                       name, unknown ? "-" : format_number(standing.throughput.value),
                       unknown ? "-" : fmt::format("{:.0f} %", 100 * standing.throughput.sd), "-",
                       "-", "-", unknown ? "-" : or_dash(standing.unit_cost, kMillion),
                       100 * standing.best);
  }
  return fmt::format("  {:<22} {:>10} {:>7} {:>6} {:>9} {:>7} {:>10} {:>6.0f} %  tried\n", name,
                     format_number(standing.throughput.value),
                     fmt::format("{:.0f} %", 100 * standing.throughput.sd),
                     trial->utilization ? fmt::format("{:.0f} %", 100 * *trial->utilization) : "-",
                     trial->memory_bytes ? format_bytes(*trial->memory_bytes) : "-",
                     or_dash(trial->unit_joules, 1), or_dash(standing.unit_cost, kMillion),
                     100 * standing.best);
}

std::string laws_text(const std::vector<Law>& laws) {
  std::string text;
  for (const auto& law : laws) {
    if (law.trials == 0) continue;
    text += fmt::format(
        "  {}: {} with one; {:.1f} ± {:.1f} % of the work cannot be divided, and each "
        "more costs all others {:.2f} ± {:.2f} %\n",
        law.kind.empty() ? "any" : law.kind, format_number(law.one.value), 100 * law.serial.value,
        100 * law.serial.sd, 100 * law.crosstalk.value, 100 * law.crosstalk.sd);
  }
  return text.empty() ? text : "\nHow they scale\n" + text;
}

}  // namespace

std::string report_text(const TrialReport& report) {
  const Judgement judgement = judge(report);
  const Plan& plan = judgement.plan;
  std::string text = answer_text(report, plan);
  add_other(report, plan, plan.fastest, "fastest", text);
  add_other(report, plan, plan.cheapest, "cheapest per unit", text);
  if (report.interrupted) text += "The trials were interrupted.\n";
  text += fmt::format("\n  {:<22} {:>10} {:>7} {:>6} {:>9} {:>7} {:>10} {:>8}\n", "choice",
                      "units/s", "±", "busy", "memory", "J/unit", "cost/1e6", "best");
  for (size_t i = 0; i < report.choices.size(); ++i) text += row_of(report, plan, i);
  text += laws_text(judgement.laws);
  return text;
}

}  // namespace assay::cluster
