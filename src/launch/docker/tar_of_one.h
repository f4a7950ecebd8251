// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include <assay/base/files.h>
#include <assay/base/result.h>

namespace assay::launch {

/// An archive of one file, made while it is read: the file may be larger than memory.
class TarOfOne {
 public:
  /// `name` is that of the file in the archive, of at most 99 letters.
  static Result<TarOfOne> open(const std::filesystem::path& file, const std::string& name);

  uint64_t size() const;
  /// Fills the next part and tells its size; 0 at the end, and when the file cannot be read or has
  /// become shorter.
  size_t read(char* to, size_t most);

 private:
  TarOfOne(Fd file, uint64_t file_size, std::string header)
      : file_(std::move(file)), file_size_(file_size), header_(std::move(header)) {}

  Fd file_;
  uint64_t file_size_;
  std::string header_;
  uint64_t at_ = 0;
};

}  // namespace assay::launch
