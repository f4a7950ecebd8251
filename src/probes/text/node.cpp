// SPDX-License-Identifier: Apache-2.0
#include "text/node.h"

#include "text/fields.h"

#include <algorithm>
#include <array>

#include <assay/base/text.h>

namespace assay::probes {
namespace {

constexpr uint64_t kSectorBytes = 512;

std::optional<uint64_t> kilobytes(std::string_view text, std::string_view key) {
  const auto number = keyed_uint(text, key);
  if (!number || *number > UINT64_MAX / 4096) return std::nullopt;
  return *number * 1024;
}

std::optional<uint64_t> less(std::optional<uint64_t> whole, std::optional<uint64_t> part) {
  if (!whole || !part) return std::nullopt;
  return *whole - std::min(*whole, *part);
}

std::optional<uint64_t> plus(std::optional<uint64_t> a, std::optional<uint64_t> b) {
  if (!a || !b) return std::nullopt;
  return *a + *b;
}

template <size_t N>
bool starts_with_any(std::string_view name, const std::array<std::string_view, N>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view p) { return name.substr(0, p.size()) == p; });
}

/// The kernel lists partitions behind their disk: sda1 behind sda, nvme0n1p1 behind nvme0n1.
bool is_partition_of(std::string_view disk, std::string_view name) {
  if (disk.empty() || name.size() <= disk.size() || name.substr(0, disk.size()) != disk)
    return false;
  name.remove_prefix(disk.size());
  const bool disk_ends_in_digit = disk.back() >= '0' && disk.back() <= '9';
  if (disk_ends_in_digit && name.front() != 'p') return false;
  if (name.front() == 'p') name.remove_prefix(1);
  return parse_uint(name).has_value();
}

void add_disk(std::string_view line, Diskstats& sum) {
  const auto reads = next_uint(line);
  skip_words(line, 1);
  const auto sectors_read = next_uint(line);
  skip_words(line, 1);
  const auto writes = next_uint(line);
  skip_words(line, 1);
  const auto sectors_written = next_uint(line);
  if (!reads || !sectors_read || !writes || !sectors_written) return;
  ++sum.disks;
  sum.reads += *reads;
  sum.writes += *writes;
  sum.read_bytes += *sectors_read * kSectorBytes;
  sum.write_bytes += *sectors_written * kSectorBytes;
}

}  // namespace

std::optional<NodeStat> parse_node_stat(std::string_view text) {
  std::string_view line;
  std::string_view rest = text;
  if (!next_line(rest, line) || next_word(line) != "cpu") return std::nullopt;
  std::array<uint64_t, 7> ticks{};
  for (auto& field : ticks) {
    const auto number = next_uint(line);
    if (!number) return std::nullopt;
    field = *number;
  }
  const auto [user, nice, system, idle, iowait, irq, softirq] = ticks;
  return NodeStat{user + nice, system + irq + softirq, keyed_uint(rest, "ctxt")};
}

Meminfo parse_meminfo(std::string_view text) {
  Meminfo memory;
  memory.total = kilobytes(text, "MemTotal");
  memory.used = less(memory.total, kilobytes(text, "MemAvailable"));
  memory.cache = plus(kilobytes(text, "Cached"), kilobytes(text, "Buffers"));
  memory.resident = plus(kilobytes(text, "AnonPages"), kilobytes(text, "Mapped"));
  memory.swap_used = less(kilobytes(text, "SwapTotal"), kilobytes(text, "SwapFree"));
  return memory;
}

Vmstat parse_vmstat(std::string_view text) {
  return {keyed_uint(text, "pgfault"), keyed_uint(text, "pgmajfault")};
}

Diskstats parse_diskstats(std::string_view text) {
  constexpr std::array<std::string_view, 5> kNotDisks = {"loop", "ram", "zram", "dm-", "md"};
  Diskstats sum;
  std::string_view disk;
  for (std::string_view line; next_line(text, line);) {
    skip_words(line, 2);
    const std::string_view name = next_word(line);
    if (name.empty() || starts_with_any(name, kNotDisks) || is_partition_of(disk, name)) continue;
    disk = name;
    add_disk(line, sum);
  }
  return sum;
}

NetDev parse_net_dev(std::string_view text, Interfaces which) {
  constexpr std::array<std::string_view, 18> kInward = {
      "veth", "docker", "br-",  "virbr", "cni", "flannel", "cali", "tun",    "tap",
      "wg",   "bond",   "team", "dummy", "ifb", "vxlan",   "lxc",  "cilium", "kube"};
  NetDev sum;
  for (std::string_view line; next_line(text, line);) {
    const size_t colon = line.find(':');
    if (colon == line.npos) continue;
    const std::string_view name = trim(line.substr(0, colon));
    line.remove_prefix(colon + 1);
    const auto received = next_uint(line);
    skip_words(line, 7);
    const auto sent = next_uint(line);
    if (!received || !sent || name == "lo") continue;
    if (which == Interfaces::outward && starts_with_any(name, kInward)) continue;
    ++sum.interfaces;
    sum.receive_bytes += *received;
    sum.transmit_bytes += *sent;
  }
  return sum;
}

std::optional<Loadavg> parse_loadavg(std::string_view text) {
  std::string_view line = trim(text);
  const auto load1 = parse_double(next_word(line));
  skip_words(line, 2);
  std::string_view tasks = next_word(line);
  next_field(tasks, '/');
  const auto threads = parse_uint(tasks);
  const auto last_pid = next_uint(line);
  if (!load1 || *load1 < 0 || !threads || !last_pid) return std::nullopt;
  return Loadavg{*load1, *threads, *last_pid};
}

std::optional<int64_t> parse_first_int(std::string_view text) {
  text = trim(text);
  return parse_int(text.substr(0, text.find_first_of(" \t\n")));
}

}  // namespace assay::probes
