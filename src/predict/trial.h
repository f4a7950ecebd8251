// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lessons.h"

#include <string>
#include <vector>

#include <assay/predict/train.h>

namespace assay::predict {

/// What is learned by one recipe, beside others.
struct Part {
  const Recipe* recipe = nullptr;
  bool needs_workload = false;
};

/// In which fold each run is tested.
struct RunFolds {
  size_t count = 0;
  bool by_family = false;
  std::vector<size_t> of_run;
};
/// By families where there are enough of them, else by models.
RunFolds make_folds(const Runs& runs, uint64_t seed);

/// How runs slow down, and what they would take on idle devices.
struct LoadLearned {
  LearnedSlowdown slowdown;
  Grid idle;
};
Result<LoadLearned> learn_load(const Runs& runs, const Around& around, const Chosen& chosen,
                               uint64_t seed);

/// What was told of each run by each of the methods, in logarithms; NaN where nothing could be.
struct UnseenTold {
  std::vector<Method> methods;
  std::vector<std::vector<double>> logs;
  std::vector<double> whole_shares = {};  ///< of `pieces`, for each task of the runs

  void drop(size_t method) {
    methods.erase(methods.begin() + static_cast<ptrdiff_t>(method));
    logs.erase(logs.begin() + static_cast<ptrdiff_t>(method));
  }
};
/// For each part. Learns once per fold, part and method.
Result<std::vector<UnseenTold>> tell_unseen(const Runs& runs, const RunFolds& folds,
                                            const std::vector<Part>& parts,
                                            const TrainOptions& options);

/// How wide intervals are.
struct Widths {
  std::vector<double> of_task;  ///< half, in logarithms, when idle
  double widening = 0;          ///< how much wider under full load
};

/// The method that did best, how well it did, and how wide intervals have to be.
struct Verdict {
  Method method = Method::linear;
  std::vector<double> whole_shares = {};  ///< of `pieces`, for each task of the runs
  Trial trial;
  Widths widths;
};
Verdict judge(const Runs& runs, const RunFolds& folds, const UnseenTold& told);

}  // namespace assay::predict
