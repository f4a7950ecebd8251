// SPDX-License-Identifier: Apache-2.0
#include "answer.h"

#include "goals.h"

#include <algorithm>
#include <fmt/format.h>

#include <assay/base/text.h>
#include <assay/samples/metric.h>

namespace assay::analysis {
namespace {

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += i + 1 == parts.size() ? " and " : ", ";
    text += parts[i];
  }
  return text;
}

std::string cores_text(double cores) {
  const std::string number = format_number(cores);
  return number + (number == "1" ? " core" : " cores");
}

std::string memory_of(const RunAnalysis& analysis) {
  const auto* memory = find(analysis.footprint, "memory_bytes");
  return memory != nullptr ? format_bytes(memory->peak) : "";
}

/// "needs 1.8 cores and 612 MB", "got only 0.1 cores of a busy node and needs 612 MB"; empty when
/// neither was measured.
std::string resources(const Facts& facts, const std::string& needs) {
  std::vector<std::string> needed;
  std::string got;
  if (const auto* cores = find(facts.analysis.footprint, "cpu_cores")) {
    const Shortage shortage = shortage_of(facts);
    const std::string mean = cores_text(cores->mean);
    if (shortage == Shortage::none) needed.push_back(cores_text(std::max(cores->p95, cores->mean)));
    if (shortage == Shortage::busy_node) got = "got only " + mean + " of a busy node";
    if (shortage == Shortage::cpu_limit) got = "got only " + mean + " because of its CPU limit";
  }
  if (auto memory = memory_of(facts.analysis); !memory.empty()) needed.push_back(std::move(memory));
  if (needed.empty()) return got;
  return (got.empty() ? "" : got + " and ") + needs + " " + joined(needed);
}

bool wants_more(Comparison c) {
  return c == Comparison::greater || c == Comparison::greater_equal;
}

std::string reached(const GoalResult& result) {
  const std::string value = format_value(*result.value, result.unit);
  const std::string bound = format_value(result.goal.bound, result.unit);
  if (wants_more(result.goal.comparison)) {
    return fmt::format("reached {}{} of {} {}", result.met ? "" : "only ", value, bound,
                       name_of(result.goal));
  }
  return fmt::format("{} {}, {} the {} allowed", name_of(result.goal), value,
                     result.met ? "within" : "over", bound);
}

/// What was missed comes first: "latency.p95 350 ms, over the 200 ms allowed; reached 12.4 of 10
/// fps; never reported x".
std::vector<std::string> goal_clauses(const RunAnalysis& analysis) {
  std::vector<std::string> clauses;
  std::vector<std::string> never;
  std::vector<std::string> not_here;
  for (const bool met : {false, true}) {
    for (const auto& result : analysis.goals) {
      if (result.value && result.met == met) clauses.push_back(reached(result));
    }
  }
  for (const auto& result : analysis.goals) {
    if (result.value) continue;
    const bool ours = find_metric(full_metric_name(result.goal.metric)) != nullptr;
    (ours ? not_here : never).push_back(result.goal.metric);
  }
  if (!never.empty()) clauses.push_back("never reported " + joined(never));
  if (!not_here.empty()) clauses.push_back("could not be measured here: " + joined(not_here));
  return clauses;
}

std::string failure(const Exit& exit, const std::string& after) {
  if (exit.code && *exit.code != 0) return fmt::format("failed with code {}{}", *exit.code, after);
  if (!exit.detail.empty()) return fmt::format("failed{}: {}", after, exit.detail);
  if (exit.signal) return fmt::format("was killed by signal {}{}", *exit.signal, after);
  return "failed" + after;
}

/// How it ended, when that is the first thing to know; empty after a normal end.
std::string ending(const RunRecord& run, Nanoseconds duration) {
  const std::string after =
      duration > Nanoseconds(0) ? " after " + format_duration(duration) : std::string();
  switch (run.status) {
    case RunStatus::finished:
      return "";
    case RunStatus::running:
      return "still runs" + after;
    case RunStatus::timeout:
      return run.isolation == "attached" ? "was watched for " + format_duration(duration)
                                         : "was stopped at its timeout" + after;
    case RunStatus::failed:
      return failure(run.exit, after);
    case RunStatus::interrupted:
      return "was interrupted" + after;
    case RunStatus::oom:
      break;
  }
  const auto& limit = run.target.limits.memory_bytes;
  return "ran out of memory" + after +
         (limit ? fmt::format(": its limit was {}", format_bytes(static_cast<double>(*limit)))
                : "");
}

/// A timeout is a normal end: what was seen until then is what the app needs.
bool ended_normally(RunStatus status) {
  return status == RunStatus::finished || status == RunStatus::timeout;
}

}  // namespace

std::string answer_of(const Facts& facts) {
  const RunRecord& run = facts.run;
  const Nanoseconds duration = facts.window.to - run.started;
  std::vector<std::string> clauses;
  if (auto end = ending(run, duration); !end.empty()) clauses.push_back(std::move(end));
  const bool normal = ended_normally(run.status);
  std::string needed = resources(facts, normal ? "needs" : "needed");
  if (needed.empty()) {
    if (clauses.empty()) clauses.push_back("finished after " + format_duration(duration));
    clauses.emplace_back("what it needs could not be measured");
  } else if (normal) {
    clauses.push_back(std::move(needed));
  } else {
    clauses.push_back((run.status == RunStatus::running ? "so far it " : "until then it ") +
                      needed);
  }
  for (auto& clause : goal_clauses(facts.analysis)) clauses.push_back(std::move(clause));
  return fmt::format("{}", fmt::join(clauses, "; "));
}

}  // namespace assay::analysis
