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
/// A law that is less likely is not told: the job scales in another way.
constexpr double kMayHold = 0.2;

std::string unit_of(const TrialReport& report) {
  return report.unit.empty() ? "/s" : " " + report.unit;
}

std::string percent_of(const Estimate& estimate) {
  return fmt::format("{:.0f} %", std::max(1.0, 100 * estimate.sd));
}

std::string speed_text(const TrialReport& report, const Standing& standing) {
  const Estimate& speed = standing.throughput();
  return fmt::format("{}{} ± {}", format_number(speed.value), unit_of(report), percent_of(speed));
}

std::string bounds_text(const Question& question) {
  std::string text;
  if (question.budget > 0) text += fmt::format(" within {}", format_number(question.budget));
  if (question.deadline > 0)
    text += fmt::format("{} {}", text.empty() ? " within" : " and",
                        format_duration(from_seconds(question.deadline)));
  return text;
}

std::string name_at(const TrialReport& report, size_t choice) {
  return name_of(report.choices[choice], report.resource);
}

bool all_fit(const Plan& plan) {
  return std::all_of(plan.standings.begin(), plan.standings.end(),
                     [](const Standing& one) { return one.fits; });
}

/// By one that others left no room for.
bool may_be_beaten(const Plan& plan) {
  return std::any_of(plan.standings.begin(), plan.standings.end(), [&](const Standing& one) {
    return one.had_no_room && one.best > plan.standings[*plan.answer].best;
  });
}

/// Parts of one lose nothing to what several have to tell each other.
const char* fewer_text(const TrialReport& report, size_t choice) {
  const auto& choices = report.choices;
  const bool parts = std::all_of(choices.begin(), choices.end(), [&](const Choice& one) {
    return one.kind != choices[choice].kind || one.count <= 1;
  });
  return parts ? "it was not measured, and fewer can be as fast as more"
               : "it was not measured, and fewer can be faster than more";
}

const TrialResult* last_of(const TrialReport& report, const Choice& choice, bool measured) {
  for (auto trial = report.trials.rbegin(); trial != report.trials.rend(); ++trial)
    if (trial->choice == choice && (!measured || trial->end == TrialEnd::measured)) return &*trial;
  return nullptr;
}

/// What would be tried if each choice were; empty: nothing that was not.
std::string all_text(const TrialReport& report, const Plan& plan) {
  size_t open = 0;
  bool all_may_work = true;
  for (size_t i = 0; i < report.choices.size(); ++i) {
    const bool may_work = plan.standings[i].works > 0;
    all_may_work &= may_work;
    open += may_work && last_of(report, report.choices[i], false) == nullptr;
  }
  if (open == 0 || report.limits.every) return "";
  return all_may_work ? "; --all tries each choice" : "; --all tries each that may work";
}

/// Likelier to be the fastest than the answer is, though it was not when it was tried.
bool is_no_faster(const TrialReport& report, const Plan& plan, size_t other) {
  const Standing &one = plan.standings[other], &answer = plan.standings[*plan.answer];
  return report.question.want == Want::fastest &&
         report.choices[other].kind == report.choices[*plan.answer].kind &&
         one.best > answer.best && one.measured && answer.measured &&
         one.measured->value <= answer.measured->value;
}

std::string answer_text(const TrialReport& report, const Plan& plan) {
  const Question& question = report.question;
  if (!plan.answer) {
    if (nothing_is_known(report))
      return fmt::format("Nothing was measured, so that nothing is known{}.\n",
                         all_text(report, plan));
    const bool bounded = question.budget > 0 || question.deadline > 0;
    return fmt::format("None of these choices {}{}.\n", bounded ? "does it" : "works",
                       bounds_text(question));
  }
  const Standing& standing = plan.standings[*plan.answer];
  std::string text = fmt::format("{}: {}{}{}, {}{}", name_at(report, *plan.answer),
                                 question.want == Want::fastest ? "fastest" : "cheapest",
                                 may_be_beaten(plan) ? " of what had room" : "",
                                 bounds_text(question), speed_text(report, standing),
                                 standing.measured ? "" : " (told by its law, not measured)");
  if (standing.seconds)
    text += fmt::format("; {} units take {}", format_number(question.work),
                        format_duration(from_seconds(*standing.seconds)));
  if (standing.cost) text += fmt::format(" and cost {}", format_number(*standing.cost));
  text += ".\n";
  if (!plan.clear && standing.best >= report.limits.sure && !all_fit(plan))
    return text + "That is not clear: no law explains what was measured, as told below.\n";
  const bool doubted = !plan.clear && standing.best >= report.limits.sure &&
                       std::any_of(plan.standings.begin(), plan.standings.end(),
                                   [](const auto& one) { return one.doubt == Doubt::fewest; });
  text += fmt::format("{}: with {:.0f} % it is the best, or less than {:.0f} % behind it{}.\n",
                      plan.clear ? "That is clear" : "That is not clear", 100 * standing.best,
                      100 * question.close, doubted ? ", if it scales as most jobs do" : "");
  for (size_t i = 0; i < report.choices.size(); ++i)
    if (is_no_faster(report, plan, i))
      text +=
          fmt::format("Most jobs would be faster with {}; this one was not.\n", name_at(report, i));
  for (size_t i = 0; i < report.choices.size(); ++i)
    if (const Doubt doubt = plan.standings[i].doubt; doubt != Doubt::none)
      text +=
          fmt::format("{} may be better; {}.\n", name_at(report, i),
                      doubt == Doubt::no_room ? "there was no room for it" : fewer_text(report, i));
  return text;
}

void add_other(const TrialReport& report, const Plan& plan, const std::optional<size_t>& other,
               const char* what, std::string& text) {
  if (!other || other == plan.answer) return;
  const Standing& standing = plan.standings[*other];
  text += fmt::format("{} is {}: {}", name_at(report, *other), what, speed_text(report, standing));
  if (standing.unit_cost)
    text += fmt::format(", {} for a million units", format_number(kMillion * *standing.unit_cost));
  text += ".\n";
}

/// Why the last trial of a choice was not measured; empty when it was, or there is none.
std::string trouble_of(const TrialReport& report, const Choice& choice) {
  const TrialResult* last = last_of(report, choice, false);
  if (last == nullptr || last->end == TrialEnd::measured) return "";
  return (last->end == TrialEnd::busy ? "no room just then: " : "") + last->reason;
}

std::string or_dash(const std::optional<double>& value, double scale) {
  return value ? format_number(scale * *value) : "-";
}

std::string row_of(const TrialReport& report, const Plan& plan, size_t i) {
  const Standing& standing = plan.standings[i];
  const TrialResult* trial = last_of(report, report.choices[i], true);
  const std::string trouble = trouble_of(report, report.choices[i]);
  const std::string name = name_at(report, i);
  for (const auto& ruled : report.ruled)
    if (ruled.choice == i) return fmt::format("  {:<22} no room: {}\n", name, ruled.reason);
  if (trial == nullptr && !trouble.empty()) return fmt::format("  {:<22} {}\n", name, trouble);
  if (trial == nullptr) {
    const bool unknown = standing.expected.sd > 2;
    return fmt::format("  {:<22} {:>10} {:>7} {:>6} {:>9} {:>7} {:>10} {:>6.0f} %  not tried\n",
                       name, unknown ? "-" : format_number(standing.expected.value),
                       unknown ? "-" : percent_of(standing.expected), "-", "-", "-",
                       unknown ? "-" : or_dash(standing.unit_cost, kMillion), 100 * standing.best);
  }
  return fmt::format("  {:<22} {:>10} {:>7} {:>6} {:>9} {:>7} {:>10} {:>6.0f} %  measured{}\n",
                     name, format_number(standing.throughput().value),
                     percent_of(standing.throughput()),
                     trial->utilization ? fmt::format("{:.0f} %", 100 * *trial->utilization) : "-",
                     trial->memory_bytes ? format_bytes(*trial->memory_bytes) : "-",
                     or_dash(trial->unit_joules, 1), or_dash(standing.unit_cost, kMillion),
                     100 * standing.best, trouble.empty() ? "" : ", then " + trouble);
}

/// Where the shapes expect something else than what was measured, they do not explain the job.
std::string misfits_text(const TrialReport& report, const Plan& plan) {
  std::string text;
  for (size_t i = 0; i < report.choices.size(); ++i) {
    const Standing& one = plan.standings[i];
    if (!one.fits)
      text += fmt::format("  {}: {} was measured, {} would fit the others\n", name_at(report, i),
                          format_number(one.measured->value), format_number(one.expected.value));
  }
  if (text.empty()) return text;
  return "\nNo law explains these trials well. Trust what was measured, and try again what "
         "matters\n" +
         text;
}

/// One number tells nothing of how a kind scales, and what follows no law has none.
bool has_law(const TrialReport& report, const Plan& plan, const std::string& kind) {
  size_t measured = 0;
  for (size_t i = 0; i < report.choices.size(); ++i) {
    if (report.choices[i].kind != kind) continue;
    if (!plan.standings[i].fits) return false;
    measured += plan.standings[i].measured.has_value();
  }
  return measured > 1;
}

std::string laws_text(const TrialReport& report, const Judgement& judgement) {
  std::string text;
  for (const auto& law : judgement.laws) {
    if (law.likely < kMayHold || !has_law(report, judgement.plan, law.kind)) continue;
    text += fmt::format(
        "  {}: {} with {}; {:.1f} ± {:.1f} % of the work cannot be divided, and each "
        "more costs all others {:.2f} ± {:.2f} %\n",
        law.kind.empty() ? "any" : law.kind, format_number(law.one.value),
        law.part == 1 ? "one" : format_number(law.part), 100 * law.serial.value,
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
  if (std::any_of(plan.standings.begin(), plan.standings.end(),
                  [](const Standing& one) { return one.measured.has_value(); }))
    text +=
        "  ±: of what was tried once, the noise within that trial; another may differ by more\n";
  text += fmt::format("  best: how likely it is the best, or less than {:.0f} % behind it\n",
                      100 * report.question.close);
  text += misfits_text(report, plan);
  text += laws_text(report, judgement);
  return text;
}

}  // namespace assay::cluster
