// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include <assay/base/result.h>

namespace assay::agent {

/// The file that tells a Prometheus (file_sd_configs) where this daemon is to be scraped. It is
/// there for as long as this lives; after a crash it stays, and the next start writes it again.
class TargetsFile {
 public:
  /// `address` as "127.0.0.1:9410"; one of all interfaces becomes the node's name. Empty: the
  /// daemon listens nowhere, which is refused.
  static Result<TargetsFile> write(std::filesystem::path file, const std::string& address,
                                   const std::string& node);
  TargetsFile(TargetsFile&& other) noexcept;
  TargetsFile& operator=(TargetsFile&& other) noexcept;
  ~TargetsFile();

 private:
  explicit TargetsFile(std::filesystem::path file) : file_(std::move(file)) {}
  void remove();

  std::filesystem::path file_;  ///< empty: it is another one's
};

}  // namespace assay::agent
