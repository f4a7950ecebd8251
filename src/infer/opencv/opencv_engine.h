// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include <assay/infer/engine.h>

namespace assay::infer {

/// OpenCV's dnn in this process. What it throws is an error.
class OpencvEngine {
 public:
  OpencvEngine();
  OpencvEngine(const OpencvEngine&) = delete;
  OpencvEngine& operator=(const OpencvEngine&) = delete;
  ~OpencvEngine();

  static std::string version();
  /// The shapes of all inputs have to be given: OpenCV does not tell them.
  Result<Loaded> load(const LoadRequest& request);
  Result<std::vector<double>> run(const RunRequest& request);
  Result<EngineProfile> profile(const RunRequest& request);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace assay::infer
