// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <assay/base/files.h>
#include <assay/base/result.h>

namespace assay::launch {

/// A control group whose processes together get so much CPU time: a smaller machine within this
/// one. The time comes in short turns, so that also what takes milliseconds takes longer. Removed
/// with this object, when all its processes have ended; `assay cleanup` knows its name.
class CpuGroup {
 public:
  static Result<CpuGroup> make(double cores, const SysRoot& root = SysRoot());
  CpuGroup(CpuGroup&&) noexcept;
  CpuGroup& operator=(CpuGroup&&) noexcept;
  ~CpuGroup();

  /// From now on.
  Result<void> limit(double cores);
  /// Moves the calling process into it; what it starts begins there.
  Result<void> join();

 private:
  struct State;
  explicit CpuGroup(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace assay::launch
