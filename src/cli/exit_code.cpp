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

int worse_code(int a, int b) {
  constexpr std::array kWorstFirst = {kInterrupted, kRefused,    kBadInput,
                                      kAppFailed,   kGoalMissed, kDone};
  const auto rank = [&](int code) {
    return std::find(kWorstFirst.begin(), kWorstFirst.end(), code);
  };
  return rank(b) < rank(a) ? b : a;
}

int exit_code(const report::SessionView& view) {
  int worst = kDone;
  for (size_t i = 0; i < view.runs.size(); ++i)
    worst = worse_code(worst, exit_code(view.session.runs[i], view.runs[i].analysis));
  return worst;
}

}  // namespace assay::cli
