// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <assay/base/result.h>
#include <assay/collect/collect.h>
#include <assay/infer/child.h>

namespace assay::collect {

/// What else goes on while a model is timed.
struct Background {
  int workers = 0;
  int percent = 0;  ///< of a core, that each uses

  /// "idle", "2x60%".
  std::string text() const;
};

/// The same for the same words; the first iteration is always idle.
Background draw_background(Load load, double cores, uint64_t seed, const std::string& model,
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
