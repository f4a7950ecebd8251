// SPDX-License-Identifier: Apache-2.0
#include "docker/mount_source.h"

#include <algorithm>
#include <sys/stat.h>
#include <system_error>

namespace assay::launch {
namespace fs = std::filesystem;
namespace {

/// Also true for another name of the same folder: a bind mount, a hard link.
bool is_same_file(const struct stat& file, const fs::path& other) {
  struct stat info {};
  return ::stat(other.c_str(), &info) == 0 && info.st_dev == file.st_dev &&
         info.st_ino == file.st_ino;
}

/// Whether it is the socket or a folder above it, which need not be there yet.
bool is_above(const struct stat& file, const fs::path& socket) {
  const fs::path real = real_or_clean_path(socket);
  for (fs::path part = real; part != part.root_path(); part = part.parent_path()) {
    if (is_same_file(file, part)) return true;
  }
  return false;
}

}  // namespace

std::optional<fs::path> real_path(const fs::path& path) {
  std::error_code error;
  fs::path real = fs::canonical(path, error);
  if (error) return std::nullopt;
  return real;
}

fs::path real_or_clean_path(const fs::path& path) {
  if (const auto real = real_path(path)) return *real;
  const fs::path clean = path.lexically_normal();
  // The folders that exist may still be links: /var/run/docker.sock before a daemon has started.
  const auto parent = real_path(clean.parent_path());
  return parent ? *parent / clean.filename() : clean;
}

bool is_within(const fs::path& path, const fs::path& folder) {
  const auto [rest, unused] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return rest == folder.end() || (std::next(rest) == folder.end() && rest->empty());
}

std::string danger_of(const fs::path& path, const std::vector<fs::path>& engine_sockets) {
  struct stat file {};
  if (::stat(path.c_str(), &file) != 0) return "";
  if (is_same_file(file, "/")) return "it is the whole machine";
  if (S_ISSOCK(file.st_mode)) return "it is a socket of a service of this machine";
  for (const auto& socket : engine_sockets) {
    if (is_above(file, socket)) return "a container engine listens in it";
  }
  return "";
}

}  // namespace assay::launch
