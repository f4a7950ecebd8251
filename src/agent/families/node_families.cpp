// SPDX-License-Identifier: Apache-2.0
#include "families/node_families.h"

#include <fmt/format.h>
#include <sys/utsname.h>

namespace assay::agent {
namespace {

constexpr auto kGauge = promapi::FamilyKind::gauge;

std::string read_machine(const SysRoot& root) {
  utsname name{};
  if (root.is_live() && ::uname(&name) == 0) return name.machine;
  return root.read("/proc/sys/kernel/arch").value_or("");
}

promapi::LabelText read_uname(const SysRoot& root) {
  const auto file = [&](std::string_view name) {
    return root.read(fmt::format("/proc/sys/kernel/{}", name)).value_or("");
  };
  const std::string release = file("osrelease");
  const std::string node = file("hostname");
  const std::string domain = file("domainname");
  const std::string version = file("version");
  const std::string machine = read_machine(root);
  const std::string system = file("ostype");
  return {{"domainname", domain}, {"machine", machine}, {"nodename", node},
          {"release", release},   {"sysname", system},  {"version", version}};
}

}  // namespace

NodeFamilies::NodeFamilies(const SysRoot& root, const Clock& clock)
    : clock_(clock), filesystems_(root), sensors_(root), uname_(read_uname(root)) {
  add(root, "/proc/stat", stat_table());
  add(root, "/proc/loadavg", load_table());
  add(root, "/proc/meminfo", memory_table());
  add(root, "/proc/vmstat", vmstat_table());
  add(root, "/proc/sys/fs/file-nr", files_table());
  for (const std::string_view resource : {"cpu", "io", "memory", "irq"})
    add(root, fmt::format("/proc/pressure/{}", resource), pressure_table(resource));
  add(root, "/proc/diskstats", disk_table());
  add(root, "/proc/net/dev", network_table(root));
}

void NodeFamilies::add(const SysRoot& root, std::string_view path,
                       std::unique_ptr<NodeTable> table) {
  auto file = root.open(path);
  if (file) sources_.push_back({std::move(*file), std::move(table)});
}

void NodeFamilies::write(promapi::FamilyWriter& out) {
  for (auto& source : sources_) {
    if (const auto text = buffer_.read(source.file.get())) source.table->write(*text, out);
  }
  filesystems_.write(buffer_, out);
  sensors_.write(out);
  out.family("node_time_seconds", kGauge, "The clock of the machine, in seconds since 1970.");
  // A double has not enough digits for nanoseconds.
  const int64_t microseconds = unix_ns(clock_.wall()) / 1000;
  out.sample(promapi::LabelText(), static_cast<double>(microseconds) / 1e6);
  if (uname_.text().empty()) return;
  out.family("node_uname_info", kGauge, "What the kernel calls itself.");
  out.sample(uname_, 1);
}

}  // namespace assay::agent
