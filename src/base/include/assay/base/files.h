// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <assay/base/result.h>

namespace assay {

/// Owns one file descriptor; -1 means none.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept;
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int release();
  void reset();

 private:
  int fd_ = -1;
};

/// Reads a whole file; `limit` bounds what a hostile or endless file can cost.
Result<std::string> read_file(const std::filesystem::path& path, size_t limit = 64U << 20U);
/// Writes to a temporary file beside `path`, or beside what a link of that name leads to, and
/// renames it: readers see the old or the new file whole. The mode is the old file's, else what the
/// umask gives. What is no regular file (a device, a pipe) stays and is written to.
Result<void> write_file(const std::filesystem::path& path, std::string_view content);
/// Writes all of `bytes`, going on after short writes and EINTR.
Result<void> write_all(int fd, std::string_view bytes);

/// Whether it is a file that we may run.
bool is_executable(const std::filesystem::path& file);
/// Whether one of the folders, written as in $PATH, has this program; relative ones start at
/// `folder`.
bool is_in_path(const std::string& program, std::string_view path,
                const std::filesystem::path& folder = {});

/// The root of the machine that is read: "/" in production, a captured tree in a test. Paths given
/// to it are absolute as on the machine ("/proc/stat"). Cheap to copy; thread-safe.
class SysRoot {
 public:
  SysRoot() = default;
  explicit SysRoot(std::filesystem::path prefix);

  std::filesystem::path path(std::string_view absolute) const;
  Result<Fd> open(std::string_view absolute) const;
  /// The content with trailing white space removed.
  Result<std::string> read(std::string_view absolute) const;
  bool exists(std::string_view absolute) const;
  /// Names in a folder, sorted; empty when it cannot be read.
  std::vector<std::string> list(std::string_view absolute) const;
  bool is_live() const { return prefix_.empty(); }

 private:
  std::filesystem::path prefix_;
};

/// Reads a kept-open file from its start into `buffer` (for /proc, /sys and cgroup files, which
/// give fresh content at offset 0). Returns the filled part, or nothing when the read fails. No
/// allocation.
std::optional<std::string_view> pread_text(int fd, std::span<char> buffer);

/// $XDG_DATA_HOME/assay, else ~/.local/share/assay.
std::filesystem::path data_home();

}  // namespace assay
