// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <assay/base/result.h>

namespace assay::kubeapi {

/// Puts the lines of a stream together out of the pieces in which they come.
class WatchLines {
 public:
  /// Returns false to end it: no further lines are told.
  using Take = std::function<bool(std::string_view line)>;
  /// No object of Kubernetes is so large.
  static constexpr size_t kLongest = 8U << 20U;

  /// False when `take` has ended it; an error when a line is too long.
  Result<bool> feed(std::string_view piece, const Take& take);

 private:
  std::string begun_;
};

}  // namespace assay::kubeapi
