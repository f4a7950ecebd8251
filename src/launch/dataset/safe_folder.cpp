// SPDX-License-Identifier: Apache-2.0
#include "dataset/safe_folder.h"

#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <assay/base/text.h>

namespace assay::launch {
namespace {

constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

Failure unsafe(std::string_view name) {
  return bad_input(
      fmt::format("'{}' in the dataset leads out of its folder, which is refused", name));
}

Failure cannot_make(std::string_view name, int error) {
  if (error == ENOSPC || error == EDQUOT) {
    return refused(
        "no space is left for the dataset; free some, or set ASSAY_CACHE to a folder elsewhere");
  }
  return refused_errno(fmt::format("cannot make '{}' of the dataset", name), error);
}

/// A link may first go up, at most to the top, and then only down: every folder on the way down is
/// ours, and so is every link that it may pass.
bool stays_inside(std::string_view target, size_t depth) {
  if (target.empty() || target.front() == '/') return false;
  bool goes_down = false;
  while (!target.empty()) {
    const std::string_view part = next_field(target, '/');
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      goes_down = true;
    } else if (goes_down || depth-- == 0) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::optional<std::vector<std::string>> safe_parts(std::string_view name) {
  if (name.starts_with('/') || name.find('\0') != name.npos) return std::nullopt;
  std::vector<std::string> parts;
  while (!name.empty()) {
    const std::string_view part = next_field(name, '/');
    if (part == "..") return std::nullopt;
    if (!part.empty() && part != ".") parts.emplace_back(part);
  }
  return parts;
}

Result<SafeFolder> SafeFolder::open(const std::filesystem::path& folder) {
  Fd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return refused_errno(fmt::format("cannot open {}", folder.native()), errno);
  return SafeFolder(std::move(fd));
}

/// Goes down part by part, never through a link, and makes what is missing.
Result<Fd> SafeFolder::enter(const Parts& parts, const std::string& name) const {
  Fd at(::openat(fd_.get(), ".", kFolderFlags));
  for (const std::string& part : parts) {
    if (::mkdirat(at.get(), part.c_str(), 0755) == 0) {
      ::fchmodat(at.get(), part.c_str(), 0755, 0);
    } else if (errno != EEXIST) {
      return cannot_make(name, errno);
    }
    Fd next(::openat(at.get(), part.c_str(), kFolderFlags));
    if (!next.valid() && (errno == ELOOP || errno == ENOTDIR)) return unsafe(name);
    if (!next.valid()) return cannot_make(name, errno);
    at = std::move(next);
  }
  return at;
}

/// The folder that `name` is in; its last part is taken off.
Result<Fd> SafeFolder::enter_above(Parts& parts, const std::string& name, std::string& last) const {
  if (parts.empty()) return unsafe(name);
  last = std::move(parts.back());
  parts.pop_back();
  return enter(parts, name);
}

Result<void> SafeFolder::make_folder(const std::string& name) {
  const auto parts = safe_parts(name);
  if (!parts) return unsafe(name);
  ASSAY_TRY(const Fd fd, enter(*parts, name));
  return {};
}

Result<Fd> SafeFolder::make_file(const std::string& name, bool executable) {
  auto parts = safe_parts(name);
  if (!parts) return unsafe(name);
  std::string last;
  ASSAY_TRY(const Fd above, enter_above(*parts, name, last));
  ::unlinkat(above.get(), last.c_str(), 0);
  Fd fd(::openat(above.get(), last.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                 0644));
  if (!fd.valid() || ::fchmod(fd.get(), executable ? 0755 : 0644) != 0)
    return cannot_make(name, errno);
  return fd;
}

Result<void> SafeFolder::make_link(const std::string& name, const std::string& target) {
  auto parts = safe_parts(name);
  if (!parts) return unsafe(name);
  std::string last;
  ASSAY_TRY(const Fd above, enter_above(*parts, name, last));
  if (!stays_inside(target, parts->size())) return unsafe(name);
  ::unlinkat(above.get(), last.c_str(), 0);
  if (::symlinkat(target.c_str(), above.get(), last.c_str()) != 0) return cannot_make(name, errno);
  return {};
}

Result<void> SafeFolder::make_hard_link(const std::string& name, const std::string& target) {
  auto parts = safe_parts(name);
  auto target_parts = safe_parts(target);
  if (!parts || !target_parts) return unsafe(name);
  std::string last;
  std::string target_last;
  ASSAY_TRY(const Fd above, enter_above(*parts, name, last));
  ASSAY_TRY(const Fd target_above, enter_above(*target_parts, name, target_last));
  struct stat status {};
  if (::fstatat(target_above.get(), target_last.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
    return cannot_make(name, errno);
  // A link would stand elsewhere, where what it says may lead out.
  if (!S_ISREG(status.st_mode)) return unsafe(name);
  if (*parts == *target_parts && last == target_last) return {};
  ::unlinkat(above.get(), last.c_str(), 0);
  if (::linkat(target_above.get(), target_last.c_str(), above.get(), last.c_str(), 0) != 0)
    return cannot_make(name, errno);
  return {};
}

Result<void> write_at(int fd, std::string_view bytes, uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return cannot_make("a file", errno);
    bytes.remove_prefix(static_cast<size_t>(n));
    offset += static_cast<uint64_t>(n);
  }
  return {};
}

Result<void> set_size(int fd, uint64_t size) {
  if (::ftruncate(fd, static_cast<off_t>(size)) != 0) return cannot_make("a file", errno);
  return {};
}

}  // namespace assay::launch
