// SPDX-License-Identifier: Apache-2.0
#include "exit_code.h"

#include <algorithm>
#include <array>

namespace assay::cli {
namespace {

int exit_code(const RunRecord& run, const analysis::RunAnalysis& analysis) {
  if (run.exit.refused) return kRefused;
  if (run.status == RunStatus::failed || run.status == RunStatus::oom) return kAppFailed;
  const bool missed = std::any_of(analysis.goals.begin(), analysis.goals.end(),
                                  [](const analysis::GoalResult& g) { return !g.met; });
  return missed ? kGoalMissed : kDone;
}

}  // namespace

int exit_code(const Error& error) {
  switch (error.kind) {
    case ErrorKind::input:
      return kBadInput;
    case ErrorKind::app:
      return kAppFailed;
    case ErrorKind::environment:
    case ErrorKind::internal:
      return kRefused;
  }
  return kRefused;
}

int exit_code(const report::SessionView& view) {
  constexpr std::array kWorstFirst = {kRefused, kAppFailed, kGoalMissed, kDone};
  const auto rank = [&](int code) {
    return std::find(kWorstFirst.begin(), kWorstFirst.end(), code);
  };
  int worst = kDone;
  for (size_t i = 0; i < view.runs.size(); ++i) {
    const int code = exit_code(view.session.runs[i], view.runs[i].analysis);
    if (rank(code) < rank(worst)) worst = code;
  }
  return worst;
}

}  // namespace assay::cli
