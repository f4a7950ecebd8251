// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <assay/base/result.h>

namespace assay::session {

/// A folder of its own for the hooks' socket, for this user alone, with a path short enough for
/// sun_path; removed on destruction.
class SocketFolder {
 public:
  static Result<std::unique_ptr<SocketFolder>> make();
  ~SocketFolder();
  SocketFolder(const SocketFolder&) = delete;
  SocketFolder& operator=(const SocketFolder&) = delete;

  std::filesystem::path socket() const { return folder_ / "live_metrics.sock"; }

  /// Lets every user reach the socket who is shown the folder.
  void open_to_all();

  /// Removes folders whose `assay` is gone; returns how many.
  static int remove_leftovers();

 private:
  explicit SocketFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}
  std::filesystem::path folder_;
};

}  // namespace assay::session
