// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <assay/base/result.h>
#include <assay/base/time.h>
#include <assay/samples/records.h>

namespace assay::agent {

/// What an app may use from now on; what is absent stays as it is.
struct LimitChange {
  std::optional<double> cores = {};
  std::optional<uint64_t> memory_bytes = {};

  friend bool operator==(const LimitChange&, const LimitChange&) = default;
};

/// A closer look at one running app, bounded in time and in what it may cost. Nothing fulfils it
/// yet: it is the place for call stacks and GPU kernels.
struct CaptureRequest {
  enum class Kind : uint8_t { stacks, gpu_kernels };
  Kind kind = Kind::stacks;
  Nanoseconds length = std::chrono::seconds(10);
  double frequency_hz = 99;
};

/// What callers with a token may change. An app is named by its control group's path.
class Control {
 public:
  virtual ~Control() = default;
  /// Replaces the goals that were set this way before; none: those of its label count again.
  virtual Result<void> set_goals(const std::string& path, std::vector<Goal> goals) = 0;
  /// Stays within the operator's bounds, or is refused.
  virtual Result<void> set_limits(const std::string& path, const LimitChange& change) = 0;
  /// Reads this one app so often, for so long.
  virtual Result<void> set_interval(const std::string& path, Milliseconds interval,
                                    Nanoseconds length) = 0;
  virtual Result<void> capture(const std::string& path, const CaptureRequest& request) = 0;
};

}  // namespace assay::agent
