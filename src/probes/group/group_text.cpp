// SPDX-License-Identifier: Apache-2.0
#include "group/group_text.h"

#include "clock_ticks.h"
#include "text/fields.h"

#include <algorithm>
#include <cmath>
#include <span>

#include <assay/base/text.h>

namespace assay::probes {
namespace {

struct Key {
  std::string_view name;
  Use use;
  double per_unit = 1;
};

/// Lines of the form "key 12".
void take_keys(std::string_view text, std::span<const Key> keys, GroupUse& use) {
  for (std::string_view line; next_line(text, line);) {
    const size_t blank = line.find(' ');
    if (blank == line.npos) continue;
    const std::string_view name = line.substr(0, blank);
    const auto key =
        std::find_if(keys.begin(), keys.end(), [&](const Key& k) { return k.name == name; });
    if (key == keys.end()) continue;
    if (const auto value = parse_uint(trim(line.substr(blank + 1))))
      use[key->use] = static_cast<double>(*value) / key->per_unit;
  }
}

constexpr std::array kMemoryV1 = {
    Key{"total_cache", Use::memory_cache},
    Key{"total_rss", Use::memory_rss},
    Key{"total_mapped_file", Use::memory_mapped},
    Key{"total_swap", Use::memory_swap},
    Key{"total_pgfault", Use::page_faults},
    Key{"total_pgmajfault", Use::major_page_faults},
    Key{"total_inactive_file", Use::memory_working_set},
};
constexpr std::array kMemoryV2 = {
    Key{"anon", Use::memory_rss},           Key{"file", Use::memory_cache},
    Key{"file_mapped", Use::memory_mapped}, Key{"inactive_file", Use::memory_working_set},
    Key{"pgfault", Use::page_faults},       Key{"pgmajfault", Use::major_page_faults},
};
constexpr std::array kCpuV1 = {
    Key{"nr_periods", Use::cpu_periods},
    Key{"nr_throttled", Use::cpu_throttled_periods},
    Key{"throttled_time", Use::cpu_throttled_seconds, 1e9},
};
constexpr std::array kCpuV2 = {
    Key{"usage_usec", Use::cpu_seconds, 1e6},
    Key{"user_usec", Use::cpu_user_seconds, 1e6},
    Key{"system_usec", Use::cpu_system_seconds, 1e6},
    Key{"nr_periods", Use::cpu_periods},
    Key{"nr_throttled", Use::cpu_throttled_periods},
    Key{"throttled_usec", Use::cpu_throttled_seconds, 1e6},
};

/// The key of the working set is the inactive file cache, which is taken off what is in use.
void take_memory_keys(std::string_view text, std::span<const Key> keys, GroupUse& use) {
  double& set = use[Use::memory_working_set];
  set = kNotMeasured;
  take_keys(text, keys, use);
  if (!std::isnan(set)) set = std::max(0.0, use[Use::memory] - set);
}

/// "8:16"; nothing for what is no device, or one in memory (major 1: ram, 7: loop).
std::optional<DiskUse> parse_device(std::string_view text) {
  const auto major = parse_uint(next_field(text, ':'));
  const auto minor = parse_uint(text);
  if (!major || !minor || *major > UINT32_MAX || *minor > UINT32_MAX) return std::nullopt;
  if (*major == 1 || *major == 7) return std::nullopt;
  DiskUse disk;
  disk.major = static_cast<uint32_t>(*major);
  disk.minor = static_cast<uint32_t>(*minor);
  return disk;
}

/// A hostile or broken file cannot make it grow.
constexpr size_t kMostDevices = 64;

DiskUse* disk_of(std::string_view device, GroupUse& use) {
  const auto wanted = parse_device(device);
  if (!wanted) return nullptr;
  for (auto& disk : use.disks) {
    if (disk.major == wanted->major && disk.minor == wanted->minor) return &disk;
  }
  if (use.disks.size() >= kMostDevices) return nullptr;
  return &use.disks.emplace_back(*wanted);
}

void take_io_word(std::string_view word, DiskUse& disk) {
  const std::string_view key = next_field(word, '=');
  const auto value = parse_uint(word);
  if (!value) return;
  const auto number = static_cast<double>(*value);
  if (key == "rbytes") disk.read_bytes = number;
  if (key == "wbytes") disk.write_bytes = number;
  if (key == "rios") disk.reads = number;
  if (key == "wios") disk.writes = number;
}

InterfaceUse* interface_of(std::string_view name, GroupUse& use) {
  for (auto& known : use.interfaces) {
    if (known.name.data() == name) return &known;
  }
  if (use.interfaces.size() >= kMostDevices) return nullptr;
  InterfaceUse added;
  if (name.size() >= added.name.size()) return nullptr;
  std::copy(name.begin(), name.end(), added.name.begin());
  return &use.interfaces.emplace_back(added);
}

/// Bytes, packets, errors, drops, and four more that nobody asks for.
bool take_direction(std::string_view& line, InterfaceUse::Direction& direction) {
  const auto bytes = next_uint(line);
  const auto packets = next_uint(line);
  const auto errors = next_uint(line);
  const auto drops = next_uint(line);
  skip_words(line, 4);
  if (!bytes || !packets || !errors || !drops) return false;
  direction = {static_cast<double>(*bytes), static_cast<double>(*packets),
               static_cast<double>(*errors), static_cast<double>(*drops)};
  return true;
}

}  // namespace

void take_memory_stat_v1(std::string_view text, GroupUse& use) {
  take_memory_keys(text, kMemoryV1, use);
}

void take_memory_stat_v2(std::string_view text, GroupUse& use) {
  take_memory_keys(text, kMemoryV2, use);
}

void take_cpu_stat_v1(std::string_view text, GroupUse& use) {
  take_keys(text, kCpuV1, use);
}

void take_cpu_stat_v2(std::string_view text, GroupUse& use) {
  take_keys(text, kCpuV2, use);
}

void take_cpuacct_stat(std::string_view text, GroupUse& use) {
  if (const auto user = keyed_uint(text, "user"))
    use[Use::cpu_user_seconds] = ticks_to_seconds(*user);
  if (const auto system = keyed_uint(text, "system"))
    use[Use::cpu_system_seconds] = ticks_to_seconds(*system);
}

void take_io_stat(std::string_view text, GroupUse& use) {
  for (std::string_view line; next_line(text, line);) {
    DiskUse* const disk = disk_of(next_word(line), use);
    while (disk != nullptr && !line.empty()) take_io_word(next_word(line), *disk);
  }
}

void take_blkio(std::string_view text, BlkioUnit unit, GroupUse& use) {
  for (std::string_view line; next_line(text, line);) {
    const std::string_view device = next_word(line);
    const std::string_view kind = next_word(line);
    const auto value = next_uint(line);
    if (!value || (kind != "Read" && kind != "Write")) continue;
    DiskUse* const disk = disk_of(device, use);
    if (disk == nullptr) continue;
    const auto number = static_cast<double>(*value);
    if (unit == BlkioUnit::bytes)
      (kind == "Read" ? disk->read_bytes : disk->write_bytes) = number;
    else
      (kind == "Read" ? disk->reads : disk->writes) = number;
  }
}

void take_net_dev(std::string_view text, GroupUse& use) {
  for (std::string_view line; next_line(text, line);) {
    const size_t colon = line.find(':');
    if (colon == line.npos) continue;
    const std::string_view name = trim(line.substr(0, colon));
    line.remove_prefix(colon + 1);
    InterfaceUse now;
    if (name == "lo" || !take_direction(line, now.received) || !take_direction(line, now.sent))
      continue;
    InterfaceUse* const known = interface_of(name, use);
    if (known == nullptr) continue;
    known->received = now.received;
    known->sent = now.sent;
  }
}

}  // namespace assay::probes
