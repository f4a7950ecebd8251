// SPDX-License-Identifier: Apache-2.0
#include "docker/named_files.h"

#include "docker/docker_values.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace assay::launch {
namespace fs = std::filesystem;
namespace {

constexpr size_t kLargestFile = 16U << 20U;

bool may_be_named(const Policy& policy, const Mount& mount) {
  const std::string name = fs::path(mount.source).filename();
  return mount.kind == MountKind::bind &&
         std::any_of(policy.mounts.begin(), policy.mounts.end(), [&](const MountRule& rule) {
           return !rule.file.empty() && rule.file == name &&
                  (rule.target.empty() || rule.target == mount.target);
         });
}

fs::path link_to(const Fd& file) {
  return fmt::format("/proc/self/fd/{}", file.get());
}

/// The app may run as the user who owns the original.
Result<void> copy(const Fd& file, const fs::path& to) {
  struct stat info {};
  if (::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode))
    return bad_input("it is not a regular file");
  ASSAY_TRY(const std::string content, read_file(link_to(file), kLargestFile));
  ASSAY_CHECK(write_file(to, content));
  constexpr mode_t kPermissions = 0777;
  if (::chmod(to.c_str(), info.st_mode & kPermissions) != 0)
    return refused_errno(fmt::format("cannot set the mode of {}", to.native()), errno);
  if (::geteuid() == 0 && ::chown(to.c_str(), info.st_uid, info.st_gid) != 0)
    return refused_errno(fmt::format("cannot set the owner of {}", to.native()), errno);
  return {};
}

}  // namespace

NamedFiles NamedFiles::open(const Policy& policy, DockerArgs& args) {
  NamedFiles named;
  for (size_t i = 0; i < args.mounts.size(); ++i) {
    Mount& mount = args.mounts[i];
    if (!may_be_named(policy, mount)) continue;
    // What cannot be opened is refused by the judge or when it is to be copied.
    Fd file(::open(mount.source.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    std::error_code error;
    if (file.valid()) mount.source = fs::read_symlink(link_to(file), error).native();
    named.files_.push_back({i, std::move(file)});
  }
  return named;
}

NamedFiles::~NamedFiles() {
  std::error_code error;
  if (!folder_.empty()) fs::remove_all(folder_, error);
}

Result<void> NamedFiles::copy_to(const fs::path& folder, DockerArgs& args) {
  if (files_.empty()) return {};
  std::error_code error;
  folder_ = folder;
  for (const auto& [index, file] : files_) {
    std::string& source = args.mounts[index].source;
    const fs::path place = folder / std::to_string(index);
    fs::create_directories(place, error);
    if (error) return refused(fmt::format("cannot make {}: {}", place.native(), error.message()));
    const fs::path to = place / fs::path(source).filename();
    if (const auto copied = copy(file, to); !copied)
      return refused(
          fmt::format("{} cannot be mounted: {}", in_quotes(source), copied.error().message));
    source = fs::absolute(to).native();
  }
  return {};
}

}  // namespace assay::launch
