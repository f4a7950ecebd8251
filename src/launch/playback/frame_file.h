// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>

namespace assay::launch {

/// Whether the file begins and ends as a JPEG does; some padding behind the end is allowed, as
/// cameras write it.
bool is_whole_jpeg(const std::filesystem::path& file);

/// A file's bytes in memory without a copy. Give them only to system calls: those fail where our
/// own reading would die should the file be cut short meanwhile.
class FrameFile {
 public:
  /// Nothing when the file is empty or cannot be read.
  static std::shared_ptr<const FrameFile> map(const std::filesystem::path& file);
  FrameFile(const FrameFile&) = delete;
  FrameFile& operator=(const FrameFile&) = delete;
  ~FrameFile();

  const void* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  FrameFile(void* data, size_t size) : data_(data), size_(size) {}

  void* data_;
  size_t size_;
};

}  // namespace assay::launch
