// SPDX-License-Identifier: Apache-2.0
#include "families/node_filesystems.h"

#include <algorithm>
#include <poll.h>
#include <sys/statvfs.h>

#include <assay/base/text.h>

namespace assay::agent {
namespace {

constexpr auto kGauge = promapi::FamilyKind::gauge;

constexpr std::array<NodeColumn, 7> kFamilies = {{
    {"node_filesystem_size_bytes", kGauge, "How much fits in."},
    {"node_filesystem_free_bytes", kGauge, "How much is free, with what only root may use."},
    {"node_filesystem_avail_bytes", kGauge, "How much is free for everybody."},
    {"node_filesystem_files", kGauge, "How many files fit in."},
    {"node_filesystem_files_free", kGauge, "How many more files fit in."},
    {"node_filesystem_readonly", kGauge, "1: it cannot be written."},
    {"node_filesystem_device_error", kGauge, "1: it could not be asked."},
}};
constexpr size_t kReadonly = 5;
constexpr size_t kError = 6;

constexpr std::array<std::string_view, 25> kPseudoTypes = {
    "autofs",    "binfmt_misc", "bpf",     "cgroup",    "cgroup2",    "configfs", "debugfs",
    "devpts",    "devtmpfs",    "fusectl", "hugetlbfs", "iso9660",    "mqueue",   "nsfs",
    "overlay",   "proc",        "procfs",  "pstore",    "rpc_pipefs", "erofs",    "securityfs",
    "selinuxfs", "squashfs",    "sysfs",   "tracefs"};
/// Local ones that have no file of /dev as their source.
constexpr std::array<std::string_view, 7> kLocalTypes = {"tmpfs", "ramfs", "rootfs",  "zfs",
                                                         "ubifs", "jffs2", "bcachefs"};

template <size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// A file system in user space may hang like one of another machine.
bool is_local(const Mount& mount) {
  if (mount.type.compare(0, 4, "fuse") == 0) return false;
  return mount.device.compare(0, 5, "/dev/") == 0 || is_one_of(mount.type, kLocalTypes);
}

bool is_below(std::string_view path, std::string_view folder) {
  if (path.substr(0, folder.size()) != folder) return false;
  return path.size() == folder.size() || folder == "/" || path[folder.size()] == '/';
}

bool is_left_out(const std::string& point) {
  constexpr std::array<std::string_view, 3> kTrees = {"/dev", "/proc", "/sys"};
  constexpr std::array<std::string_view, 3> kInside = {"/run/credentials/", "/var/lib/docker/",
                                                       "/var/lib/containers/storage/"};
  return std::any_of(kTrees.begin(), kTrees.end(),
                     [&](std::string_view tree) { return is_below(point, tree); }) ||
         std::any_of(kInside.begin(), kInside.end(), [&](std::string_view tree) {
           return point.size() > tree.size() && point.compare(0, tree.size(), tree) == 0;
         });
}

bool is_octal(char c) {
  return c >= '0' && c <= '7';
}

/// The kernel writes blanks as "\040".
std::string unescaped(std::string_view word) {
  std::string text;
  while (!word.empty()) {
    const bool escaped = word.size() >= 4 && word[0] == '\\' &&
                         std::all_of(word.begin() + 1, word.begin() + 4, is_octal);
    if (escaped) {
      text += static_cast<char>((word[1] - '0') * 64 + (word[2] - '0') * 8 + (word[3] - '0'));
      word.remove_prefix(4);
    } else {
      text += word.front();
      word.remove_prefix(1);
    }
  }
  return text;
}

Mount parse_mount(std::string_view line) {
  Words words(line);
  Mount mount;
  mount.device = unescaped(words.next());
  mount.point = unescaped(words.next());
  mount.type = words.next();
  std::string_view options = words.next();
  while (!options.empty()) mount.readonly |= next_field(options, ',') == "ro";
  return mount;
}

bool is_same(const Mount& a, const Mount& b) {
  return a.device == b.device && a.point == b.point && a.type == b.type;
}

void ask(const std::string& path, std::array<double, 7>& values) {
  struct statvfs answer {};
  const bool failed = ::statvfs(path.c_str(), &answer) != 0;
  values[kError] = failed ? 1 : 0;
  if (failed) {
    std::fill_n(values.begin(), kReadonly, std::nan(""));
    return;
  }
  const auto block = static_cast<double>(answer.f_frsize);
  values[0] = static_cast<double>(answer.f_blocks) * block;
  values[1] = static_cast<double>(answer.f_bfree) * block;
  values[2] = static_cast<double>(answer.f_bavail) * block;
  values[3] = static_cast<double>(answer.f_files);
  values[4] = static_cast<double>(answer.f_ffree);
}

}  // namespace

std::vector<Mount> local_mounts(std::string_view mounts_text) {
  std::vector<Mount> mounts;
  std::vector<std::string> slow;
  for (std::string_view line; next_line(mounts_text, line);) {
    Mount mount = parse_mount(line);
    if (mount.point.empty() || mount.point.front() != '/' || mount.type.empty()) continue;
    if (is_one_of(mount.type, kPseudoTypes)) continue;
    if (!is_local(mount)) {
      slow.push_back(mount.point);
      continue;
    }
    const bool known = std::any_of(mounts.begin(), mounts.end(),
                                   [&](const Mount& other) { return is_same(other, mount); });
    if (!known && !is_left_out(mount.point)) mounts.push_back(std::move(mount));
  }
  std::erase_if(mounts, [&](const Mount& mount) {
    return std::any_of(slow.begin(), slow.end(),
                       [&](const std::string& point) { return is_below(mount.point, point); });
  });
  return mounts;
}

/// Those of the first process are the machine's, even where we are in a container.
NodeFilesystems::NodeFilesystems(const SysRoot& root) : root_(root) {
  for (const auto* path : {"/proc/1/mounts", "/proc/self/mounts", "/proc/mounts"}) {
    auto file = root.open(path);
    if (!file) continue;
    mounts_ = std::move(*file);
    return;
  }
}

/// The kernel marks its mount table as having an error after each change.
bool NodeFilesystems::has_changed() const {
  pollfd changed{.fd = mounts_.get(), .events = POLLPRI, .revents = 0};
  return ::poll(&changed, 1, 0) > 0 && (changed.revents & (POLLERR | POLLPRI)) != 0;
}

void NodeFilesystems::take(std::string_view text) {
  rows_.clear();
  for (const auto& mount : local_mounts(text)) {
    auto& row = rows_.emplace_back();
    row.name = root_.path(mount.point).native();
    row.labels = promapi::LabelText(
        {{"device", mount.device}, {"fstype", mount.type}, {"mountpoint", mount.point}});
    row.values[kReadonly] = mount.readonly ? 1 : 0;
  }
}

void NodeFilesystems::write(TextBuffer& buffer, promapi::FamilyWriter& out) {
  if (!mounts_.valid()) return;
  if (has_changed() || !is_known_) {
    const auto text = buffer.read(mounts_.get());
    is_known_ = text.has_value();
    take(text.value_or(""));
  }
  for (auto& row : rows_) ask(row.name, row.values);
  write_columns(out, kFamilies, std::span<const NodeRow<kColumns>>(rows_));
}

}  // namespace assay::agent
