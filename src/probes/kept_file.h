// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <assay/base/files.h>

namespace assay::probes {

/// A file of /proc, /sys or a control group that stays open and is read again and again. Reading
/// allocates only when the file has outgrown the buffer.
class KeptFile {
 public:
  /// Opens and reads once, so that a file that exists but cannot be read fails here, with the
  /// reason.
  static Result<KeptFile> open(const SysRoot& root, const std::string& path);
  /// For the few files that show what they showed when they were opened: opened for each read.
  static Result<KeptFile> reopened(const SysRoot& root, const std::string& path);

  /// The fresh content, valid until the next read; nothing when it can no longer be read.
  std::optional<std::string_view> read();

 private:
  KeptFile(Fd fd, size_t size) : fd_(std::move(fd)), buffer_(size) {}

  Fd fd_;
  std::string reopen_;  ///< empty: it stays open
  std::vector<char> buffer_;
};

}  // namespace assay::probes
