// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <assay/base/result.h>
#include <assay/collect/collect.h>
#include <assay/infer/child.h>

namespace assay::collect {

/// Of what is taken in turn, the next. Of what is drawn, the same for the same words, and the first
/// is always idle.
Background background_of(const Options& options, double cores, const std::string& model,
                         int iteration);

/// Background that goes on for as long as this lives.
class RunningBackground {
 public:
  static Result<RunningBackground> start(const Background& background);

  /// An error when it has ended before its time.
  Result<void> check();

 private:
  RunningBackground() = default;
  std::optional<infer::Child> stress_;
};

/// Whether stress-ng is here; an error says what to install.
Result<void> check_stress();

}  // namespace assay::collect
