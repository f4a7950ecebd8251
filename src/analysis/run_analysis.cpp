// SPDX-License-Identifier: Apache-2.0
#include "advice.h"
#include "answer.h"
#include "footprint.h"
#include "goals.h"
#include "other_load.h"

#include <assay/analysis/run_analysis.h>

namespace assay::analysis {

Result<RunAnalysis> analyze_run(const RunRecord& run, const Device& device,
                                const SeriesReader& samples) {
  std::vector<Series> recorded;
  const size_t size = samples.list().size();
  recorded.reserve(size);
  for (size_t i = 0; i < size; ++i) {
    ASSAY_TRY(auto series, samples.read(i));
    recorded.push_back(std::move(series));
  }
  const Window window = window_of(run, recorded);
  const Nanoseconds duration = window.to - run.started;

  RunAnalysis analysis;
  analysis.footprint = footprint_of(run, recorded, window);
  analysis.node = scope_lines(recorded, Scope::node, window);
  analysis.needs = needs_of(recorded, window);
  analysis.others = others_of(run, recorded, analysis.footprint, window);
  analysis.disturbed = is_disturbed(analysis.others, device);
  analysis.disturbance = disturbance_of(analysis.others, device);
  analysis.metrics = self_reported(recorded, window, run.target.goals);
  analysis.goals = check_goals(run.target.goals, analysis, duration);
  const Facts facts{run, device, recorded, window, analysis};
  analysis.answer = answer_of(facts);
  analysis.advice = advise(facts);
  return analysis;
}

}  // namespace assay::analysis
