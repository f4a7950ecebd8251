// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <string_view>

#include <assay/base/files.h>

namespace assay::session {

/// Reads what an app has appended to its stdout.log and stderr.log, at most 64 kB of each a call,
/// in pieces that a pipe with any room takes whole.
class LogFollower {
 public:
  explicit LogFollower(std::filesystem::path folder) : folder_(std::move(folder)) {}
  /// Asks `ready` before each piece; false when nothing was read.
  bool drain(const std::function<bool()>& ready, const std::function<void(std::string_view)>& take);

 private:
  std::filesystem::path folder_;
  std::array<Fd, 2> logs_;
};

}  // namespace assay::session
