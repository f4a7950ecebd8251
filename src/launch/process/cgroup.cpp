// SPDX-License-Identifier: Apache-2.0
#include "process/cgroup.h"

#include "process/tree.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <assay/base/text.h>

namespace assay::launch {
namespace {

constexpr uint64_t kPeriodMicroseconds = 100'000;

/// Without the memory controller a group would tell less than the process tree does.
std::vector<std::string> needed_controllers(const Limits& limits) {
  std::vector<std::string> needed = {"memory"};
  if (limits.cpus) needed.emplace_back("cpu");
  if (limits.pids) needed.emplace_back("pids");
  return needed;
}

uint64_t quota_microseconds(double cpus) {
  constexpr double kLeast = 1000;  // what the kernel accepts
  return static_cast<uint64_t>(
      std::llround(std::max(kLeast, cpus * static_cast<double>(kPeriodMicroseconds))));
}

/// The number behind `name` in a file of lines "name number".
std::optional<uint64_t> count_in(const Result<std::string>& text, std::string_view name) {
  std::string_view rest = text ? std::string_view(*text) : std::string_view();
  while (!rest.empty()) {
    std::string_view line = next_field(rest, '\n');
    if (next_field(line, ' ') == name) return parse_uint(line);
  }
  return std::nullopt;
}

}  // namespace

std::string format_limit(uint64_t bytes) {
  constexpr uint64_t kMebi = 1U << 20U;
  if (bytes % (kMebi << 10U) == 0) return fmt::format("{} GiB", bytes / (kMebi << 10U));
  if (bytes % kMebi == 0) return fmt::format("{} MiB", bytes / kMebi);
  return format_bytes(static_cast<double>(bytes));
}

std::string describe(const Limits& limits) {
  std::vector<std::string> parts;
  if (limits.cpus) parts.push_back(fmt::format("cpus {}", format_number(*limits.cpus)));
  if (limits.memory_bytes) parts.push_back("memory " + format_limit(*limits.memory_bytes));
  if (limits.pids) parts.push_back(fmt::format("pids {}", *limits.pids));
  return fmt::format("{}", fmt::join(parts, ", "));
}

Cgroup& Cgroup::operator=(Cgroup&& other) noexcept {
  if (this != &other) {
    remove();
    root_ = std::move(other.root_);
    paths_ = std::move(other.paths_);
    folders_ = std::exchange(other.folders_, {});
    notes_ = std::move(other.notes_);
  }
  return *this;
}

Cgroup::~Cgroup() {
  remove();
}

void Cgroup::remove() {
  for (const auto& folder : folders_) remove_group(folder);
  folders_.clear();
}

Result<Cgroup> Cgroup::make(const SysRoot& root, const CgroupPlaces& places,
                            const std::string& name, const Limits& limits) {
  if (places.empty()) return refused("no control groups are mounted here");
  Cgroup group(root);
  ASSAY_CHECK(places.v1.empty() ? group.make_v2(places.v2, name, limits)
                                : group.make_v1(places.v1, name));
  ASSAY_CHECK(group.apply(limits));
  return group;
}

Result<void> Cgroup::make_folder(const std::string& folder) {
  const std::string real = root_.path(folder).native();
  if (::mkdir(real.c_str(), 0755) != 0) {
    // The name holds our own pid and start time: a group that is already there is a past run's of
    // ours.
    if (errno != EEXIST || !remove_group(real) || ::mkdir(real.c_str(), 0755) != 0) {
      return refused_errno(fmt::format("cannot make the control group {}", folder), errno);
    }
  }
  folders_.push_back(real);
  return {};
}

Result<void> Cgroup::make_v1(const std::vector<V1Place>& places, const std::string& name) {
  std::string reason;
  for (const auto& place : places) {
    const std::string folder = fmt::format("{}/{}", place.parent, name);
    if (auto made = make_folder(folder); !made) {
      reason = made.error().message;
      notes_.push_back(
          {fmt::format("control group of {}", fmt::join(place.controllers, ",")), reason});
      continue;
    }
    for (const auto& controller : place.controllers) {
      if (controller == "cpu") paths_.cpu = folder;
      if (controller == "cpuacct") paths_.cpuacct = folder;
      if (controller == "memory") paths_.memory = folder;
      if (controller == "blkio") paths_.blkio = folder;
      if (controller == "pids") paths_.pids = folder;
    }
  }
  if (folders_.empty()) return refused(std::move(reason));
  return {};
}

void Cgroup::enable_controllers(const V2Place& place, std::string& reason) const {
  const std::string file = place.parent + "/cgroup.subtree_control";
  for (const auto& controller : place.can_enable) {
    const int error = write_text(root_.path(file).native(), "+" + controller);
    if (error == 0) continue;
    reason = refused_errno(fmt::format("cannot enable {} in {}", controller, file), error)
                 .value()
                 .message;
    if (error == EBUSY) reason += " (a group that holds processes cannot hand controllers on)";
  }
}

std::string Cgroup::missing_controller(const Limits& limits) const {
  const std::string there = root_.read(paths_.v2 + "/cgroup.controllers").value_or("");
  std::vector<std::string> controllers;
  for (std::string_view rest = there; !rest.empty();) {
    controllers.emplace_back(next_field(rest, ' '));
  }
  for (const auto& needed : needed_controllers(limits)) {
    if (std::find(controllers.begin(), controllers.end(), needed) == controllers.end())
      return needed;
  }
  return {};
}

Result<void> Cgroup::make_v2(const std::vector<V2Place>& places, const std::string& name,
                             const Limits& limits) {
  paths_.unified = true;
  std::string reason;
  for (const auto& place : places) {
    // An app moves from our own group into one below `parent`: the kernel asks for the right to
    // write there.
    const std::string members = place.parent + "/cgroup.procs";
    if (root_.exists(members) && ::access(root_.path(members).c_str(), W_OK) != 0) {
      reason = fmt::format("no permission to move processes below {}", place.parent);
      continue;
    }
    std::string enable_reason;
    enable_controllers(place, enable_reason);
    paths_.v2 = fmt::format("{}/{}", place.parent, name);
    if (auto made = make_folder(paths_.v2); !made) {
      reason = made.error().message;
      continue;
    }
    const std::string missing = missing_controller(limits);
    if (missing.empty()) return {};
    reason = enable_reason.empty()
                 ? fmt::format("{} hands no {} controller on", place.parent, missing)
                 : enable_reason;
    remove();
  }
  paths_.v2.clear();
  return refused(std::move(reason));
}

std::vector<LimitWrite> limit_writes(const probes::CgroupPaths& paths, const Limits& limits) {
  std::vector<LimitWrite> writes;
  const auto add = [&](std::string_view controller, const std::string& folder,
                       std::string_view file, std::string value, bool if_present = false) {
    std::string path = folder.empty() ? std::string() : fmt::format("{}/{}", folder, file);
    writes.push_back({controller, std::move(path), std::move(value), if_present});
  };
  // Swap would hide a memory limit: an app that should not fit would run on, only slower.
  constexpr bool kIfPresent = true;
  if (limits.cpus && paths.unified) {
    add("cpu", paths.v2, "cpu.max",
        fmt::format("{} {}", quota_microseconds(*limits.cpus), kPeriodMicroseconds));
  } else if (limits.cpus) {
    add("cpu", paths.cpu, "cpu.cfs_period_us", std::to_string(kPeriodMicroseconds));
    add("cpu", paths.cpu, "cpu.cfs_quota_us", std::to_string(quota_microseconds(*limits.cpus)));
  }
  if (limits.memory_bytes) {
    const std::string bytes = std::to_string(*limits.memory_bytes);
    if (paths.unified) {
      add("memory", paths.v2, "memory.max", bytes);
      add("memory", paths.v2, "memory.swap.max", "0", kIfPresent);
    } else {
      add("memory", paths.memory, "memory.limit_in_bytes", bytes);
      add("memory", paths.memory, "memory.memsw.limit_in_bytes", bytes, kIfPresent);
    }
  }
  if (limits.pids) {
    add("pids", paths.unified ? paths.v2 : paths.pids, "pids.max", std::to_string(*limits.pids));
  }
  return writes;
}

Result<void> Cgroup::apply(const Limits& limits) {
  for (const auto& write : limit_writes(paths_, limits)) {
    if (write.file.empty()) {
      return refused(fmt::format("no control group for {} can be made", write.controller));
    }
    if (write.if_present && !root_.exists(write.file)) continue;
    const int error = write_text(root_.path(write.file).native(), write.value);
    if (error != 0) {
      return refused_errno(fmt::format("cannot write {} into {}", write.value, write.file), error);
    }
  }
  return {};
}

std::optional<uint64_t> oom_kills(const SysRoot& root, const probes::CgroupPaths& paths) {
  const std::string file =
      paths.unified ? paths.v2 + "/memory.events" : paths.memory + "/memory.oom_control";
  return count_in(root.read(file), "oom_kill");
}

std::optional<uint64_t> forks_refused(const SysRoot& root, const probes::CgroupPaths& paths) {
  return count_in(root.read((paths.unified ? paths.v2 : paths.pids) + "/pids.events"), "max");
}

}  // namespace assay::launch
