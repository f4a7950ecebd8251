// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <assay/base/result.h>
#include <assay/collect/collect.h>
#include <assay/collect/share.h>
#include <assay/infer/child.h>

namespace assay::collect {

/// What else goes on while a model is timed.
struct Background {
  int workers = 0;
  int percent = 0;   ///< of a core, that each uses
  double quota = 0;  ///< cores' worth of time that is left to the engine; 0: all

  /// "idle", "2x60%", "quota 0.7".
  std::string text() const;
};

/// The same for the same words; the first iteration is always idle.
Background draw_background(Load load, double cores, uint64_t seed, const std::string& model,
                           int iteration);

/// Background that goes on for as long as this lives.
class RunningBackground {
 public:
  /// `group` is where a quota is set, and taken back to `cores` afterwards.
  static Result<RunningBackground> start(const Background& background, launch::CpuGroup* group,
                                         double cores);
  RunningBackground(RunningBackground&& other) noexcept;
  RunningBackground& operator=(RunningBackground&&) = delete;
  ~RunningBackground();

  /// An error when it has ended before its time.
  Result<void> check();

 private:
  RunningBackground() = default;
  std::optional<infer::Child> stress_;
  launch::CpuGroup* group_ = nullptr;
  double cores_ = 0;
};

/// Whether stress-ng is here; an error says what to install.
Result<void> check_stress();

}  // namespace assay::collect
