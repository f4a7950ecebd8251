// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <sys/types.h>

#include <assay/base/files.h>

/// How a container beside the app shows that it is ready; nothing of it is disturbed to find out.
namespace assay::launch {

/// Whether somebody in the process's network listens at the TCP port for others than itself.
bool listens(const SysRoot& root, pid_t pid, int port);

/// Looks for a text in a log that grows.
class LogWatch {
 public:
  LogWatch(std::filesystem::path file, std::string text)
      : file_(std::move(file)), text_(std::move(text)) {}
  /// Reads what is new; true from then on when the text was there. Empty text is always there.
  bool seen();

 private:
  std::filesystem::path file_;
  std::string text_;
  Fd fd_;
  std::string rest_;  ///< the end of what was read, where the text may have begun
  bool seen_ = false;
};

/// The end of a log, at most that many lines, each indented.
std::string last_lines(const std::filesystem::path& file, size_t lines);

}  // namespace assay::launch
