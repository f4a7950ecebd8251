// SPDX-License-Identifier: Apache-2.0
#include "docker/mount_source.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string_view>
#include <sys/stat.h>
#include <system_error>

namespace assay::launch {
namespace fs = std::filesystem;
namespace {

/// What is only the machine's own: settings, devices, sockets, other containers.
constexpr std::array<const char*, 10> kSystemFolders = {"/etc",
                                                        "/proc",
                                                        "/sys",
                                                        "/dev",
                                                        "/run",
                                                        "/boot",
                                                        "/var/lib/docker",
                                                        "/var/lib/containers",
                                                        "/var/lib/containerd",
                                                        "/var/lib/kubelet"};
constexpr std::array<std::string_view, 5> kKeyFolders = {".ssh", ".gnupg", ".aws", ".docker",
                                                         ".kube"};

bool is_for_keys(const fs::path& name) {
  return std::find(kKeyFolders.begin(), kKeyFolders.end(), name.native()) != kKeyFolders.end();
}

/// What directly in a folder makes it no data; empty: nothing.
std::string what_is_in(const fs::path& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const fs::path name = entry.path().filename();
    if (is_for_keys(name)) return fmt::format("keys are in its folder {}", name.native());
    if (entry.is_socket(error)) return fmt::format("a service listens at {} in it", name.native());
  }
  return "";
}

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

std::string why_no_dataset(const fs::path& path, const std::vector<fs::path>& engine_sockets) {
  if (std::string danger = danger_of(path, engine_sockets); !danger.empty()) return danger;
  for (const char* folder : kSystemFolders) {
    const fs::path real = real_or_clean_path(folder);
    if (is_within(path, real)) return fmt::format("{} is a folder of the system", folder);
    if (is_within(real, path)) return fmt::format("{}, a folder of the system, is in it", folder);
  }
  if (std::any_of(path.begin(), path.end(), is_for_keys)) return "it is for keys";
  return what_is_in(path);
}

}  // namespace assay::launch
