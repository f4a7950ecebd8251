// SPDX-License-Identifier: Apache-2.0
#include "families/families.h"

#include <functional>

namespace assay::agent {
namespace {

using promapi::FamilyKind;
using promapi::FamilyWriter;
using promapi::Label;
using promapi::LabelText;

struct Told {
  const Decision* decision;
  LabelText labels;
};

std::vector<Told> told_of(const Decisions& decisions, const LiveTable& table,
                          const Reports& reports) {
  std::vector<Told> all;
  for (const auto& [path, decision] : decisions.all()) {
    const bool leaks = decision.leak.finding().verdict != Verdict::unknown;
    if (decision.evidence.goals.empty() && !leaks) continue;
    const AppReports* const reported = reports.of(path);
    const auto app = table.apps().find(path);
    if (reported != nullptr)
      all.push_back({&decision, reported->labels});
    else if (app != table.apps().end())
      all.push_back({&decision, app->second->labels()});
  }
  return all;
}

void write_goals(FamilyWriter& out, const std::vector<Told>& all, std::string_view name,
                 std::string_view help,
                 const std::function<std::optional<double>(const GoalState&)>& value_of) {
  out.family(name, FamilyKind::gauge, help);
  for (const auto& [decision, labels] : all) {
    for (const auto& goal : decision->evidence.goals)
      if (const auto value = value_of(goal))
        out.sample(labels, Label{"goal", goal.goal.text}, *value);
  }
}

void write_verdict(FamilyWriter& out, const LabelText& labels, const Finding& finding) {
  if (finding.verdict == Verdict::unknown) return;
  const std::array<Label, 2> both = {Label{"resource", to_string(finding.resource)},
                                     Label{"verdict", to_string(finding.verdict)}};
  const std::span<const Label> all(both);
  out.sample(labels, finding.resource == Resource::none ? all.subspan(1) : all, 1);
}

}  // namespace

void write_decisions(FamilyWriter& out, const Decisions& decisions, const LiveTable& table,
                     const Reports& reports) {
  const auto all = told_of(decisions, table, reports);
  write_goals(out, all, "assay_app_goal_value", "What the app reaches, by goal.",
              [](const GoalState& goal) { return goal.value; });
  write_goals(out, all, "assay_app_goal_bound", "What the app has to reach, by goal.",
              [](const GoalState& goal) { return std::optional(goal.goal.bound); });
  write_goals(out, all, "assay_app_goal_met", "Whether the goal is reached: 1 or 0.",
              [](const GoalState& goal) -> std::optional<double> {
                const auto met = goal.met();
                return met ? std::optional(*met ? 1.0 : 0.0) : std::nullopt;
              });
  out.family("assay_app_verdict", FamilyKind::gauge,
             "1 for what is true of the app: meets, starved, misses, idle-rich, stuck, leaking.");
  for (const auto& [decision, labels] : all) {
    write_verdict(out, labels, decision->main.finding());
    write_verdict(out, labels, decision->leak.finding());
  }
  out.family("assay_app_spare_cores", FamilyKind::gauge,
             "Cores that could be taken from an app that reaches its goals.");
  for (const auto& [decision, labels] : all)
    if (decision->main.finding().verdict == Verdict::idle_rich)
      out.sample(labels, spare_of(decision->evidence).cores);
}

}  // namespace assay::agent
