// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>

#include <assay/base/files.h>

namespace assay::probes {

/// Opens and reads files below /proc by process id without allocation.
class ProcessFiles {
 public:
  explicit ProcessFiles(const SysRoot& root);

  /// Opens /proc/PID/`name`; invalid when it is gone or not permitted (see errno).
  Fd open(pid_t pid, std::string_view name) const;
  /// Opens /proc/PID/task/TID/`name`.
  Fd open(pid_t pid, pid_t thread, std::string_view name) const;
  /// Reads through `kept` when that is open, else opens the file for this one read.
  std::optional<std::string_view> read(const Fd& kept, pid_t pid, std::string_view name,
                                       std::span<char> buffer) const;

 private:
  std::string prefix_;
};

}  // namespace assay::probes
