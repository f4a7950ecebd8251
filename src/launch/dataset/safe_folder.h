// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <assay/base/files.h>
#include <assay/base/result.h>

namespace assay::launch {

/// A folder that is filled by names which somebody else has chosen: none of them leads out of it,
/// nothing is ever written through a link, and no link made here points outside.
class SafeFolder {
 public:
  static Result<SafeFolder> open(const std::filesystem::path& folder);

  /// Folders above are made where they are missing.
  Result<void> make_folder(const std::string& name);
  /// Replaces an older file or link of that name.
  Result<Fd> make_file(const std::string& name, bool executable);
  Result<void> make_link(const std::string& name, const std::string& target);
  Result<void> make_hard_link(const std::string& name, const std::string& target);

 private:
  using Parts = std::vector<std::string>;
  explicit SafeFolder(Fd fd) : fd_(std::move(fd)) {}

  Result<Fd> enter(const Parts& parts, const std::string& name) const;
  Result<Fd> enter_above(Parts& parts, const std::string& name, std::string& last) const;

  Fd fd_;
};

/// The parts of a relative name, without "." and empty ones; nothing when it is absolute, has a
/// ".." or a NUL.
std::optional<std::vector<std::string>> safe_parts(std::string_view name);

Result<void> write_at(int fd, std::string_view bytes, uint64_t offset);
Result<void> set_size(int fd, uint64_t size);

}  // namespace assay::launch
