// SPDX-License-Identifier: Apache-2.0
#include "families/families.h"

#include <array>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <span>
#include <string>

namespace assay::agent {
namespace {

using probes::Use;
using promapi::FamilyKind;
using promapi::FamilyWriter;
using promapi::Label;

struct Family {
  std::string_view name;
  FamilyKind kind;
  Use use;
  std::string_view help;
};

constexpr auto kCounter = FamilyKind::counter;
constexpr auto kGauge = FamilyKind::gauge;

constexpr std::array kFamilies = {
    Family{"container_cpu_user_seconds_total", kCounter, Use::cpu_user_seconds,
           "CPU time spent in the app's own code."},
    Family{"container_cpu_system_seconds_total", kCounter, Use::cpu_system_seconds,
           "CPU time spent in the kernel."},
    Family{"container_memory_usage_bytes", kGauge, Use::memory,
           "Memory in use, with all of the file cache."},
    Family{"container_memory_working_set_bytes", kGauge, Use::memory_working_set,
           "Memory in use without the file cache that the kernel would give up first."},
    Family{"container_memory_rss", kGauge, Use::memory_rss, "Anonymous memory, in bytes."},
    Family{"container_memory_cache", kGauge, Use::memory_cache, "File cache, in bytes."},
    Family{"container_memory_mapped_file", kGauge, Use::memory_mapped,
           "Files mapped into memory, in bytes."},
    Family{"container_memory_swap", kGauge, Use::memory_swap, "Swap in use, in bytes."},
    Family{"container_memory_max_usage_bytes", kGauge, Use::memory_peak,
           "The most memory that was ever in use."},
    Family{"container_memory_failcnt", FamilyKind::unknown, Use::memory_failures,
           "How often the limit of memory was reached."},
    Family{"container_oom_events_total", kCounter, Use::oom_kills,
           "Processes that the kernel ended because memory ran out."},
    Family{"container_processes", kGauge, Use::processes, "Processes."},
    Family{"container_threads", kGauge, Use::threads, "Threads."},
    Family{"container_pressure_cpu_waiting_seconds_total", kCounter, Use::cpu_waiting_seconds,
           "Time in which at least one thread waited for a CPU."},
    Family{"container_pressure_cpu_stalled_seconds_total", kCounter, Use::cpu_stalled_seconds,
           "Time in which all threads waited for a CPU."},
    Family{"container_pressure_memory_waiting_seconds_total", kCounter, Use::memory_waiting_seconds,
           "Time in which at least one thread waited for memory."},
    Family{"container_pressure_memory_stalled_seconds_total", kCounter, Use::memory_stalled_seconds,
           "Time in which all threads waited for memory."},
    Family{"container_pressure_io_waiting_seconds_total", kCounter, Use::io_waiting_seconds,
           "Time in which at least one thread waited for a disk."},
    Family{"container_pressure_io_stalled_seconds_total", kCounter, Use::io_stalled_seconds,
           "Time in which all threads waited for a disk."},
};

/// Told only of those that have a quota.
constexpr std::array kQuotaFamilies = {
    Family{"container_cpu_cfs_periods_total", kCounter, Use::cpu_periods,
           "Periods of the CPU quota in which it ran."},
    Family{"container_cpu_cfs_throttled_periods_total", kCounter, Use::cpu_throttled_periods,
           "Periods in which it was stopped because the CPU quota was used up."},
    Family{"container_cpu_cfs_throttled_seconds_total", kCounter, Use::cpu_throttled_seconds,
           "Time for which it was stopped because the CPU quota was used up."},
};

template <typename Write>
void for_each_app(const LiveTable& table, const Write& write) {
  for (const auto& [path, app] : table.apps()) write(*app);
}

template <typename Wanted>
void write_uses(FamilyWriter& out, const LiveTable& table, std::span<const Family> families,
                const Wanted& wanted) {
  for (const auto& family : families) {
    out.family(family.name, family.kind, family.help);
    for_each_app(table, [&](const LiveApp& app) {
      const double value = app.use()[family.use];
      if (!std::isnan(value) && wanted(app)) out.sample(app.labels(), value);
    });
  }
}

void write_cpu(FamilyWriter& out, const LiveTable& table) {
  out.family("container_cpu_usage_seconds_total", kCounter, "CPU time used.");
  for_each_app(table, [&](const LiveApp& app) {
    const double value = app.use()[Use::cpu_seconds];
    if (!std::isnan(value)) out.sample(app.labels(), {"cpu", "total"}, value);
  });
}

struct Fault {
  Use use;
  std::array<Label, 2> labels;
};
/// The kernel counts a group with all below it, which is what cAdvisor tells under both scopes.
constexpr std::array kFaults = {
    Fault{Use::page_faults, {{{"failure_type", "pgfault"}, {"scope", "container"}}}},
    Fault{Use::page_faults, {{{"failure_type", "pgfault"}, {"scope", "hierarchy"}}}},
    Fault{Use::major_page_faults, {{{"failure_type", "pgmajfault"}, {"scope", "container"}}}},
    Fault{Use::major_page_faults, {{{"failure_type", "pgmajfault"}, {"scope", "hierarchy"}}}},
};

void write_faults(FamilyWriter& out, const LiveTable& table) {
  out.family("container_memory_failures_total", kCounter,
             "Page faults; major ones had to wait for a disk.");
  for_each_app(table, [&](const LiveApp& app) {
    for (const auto& fault : kFaults) {
      const double value = app.use()[fault.use];
      if (!std::isnan(value)) out.sample(app.labels(), fault.labels, value);
    }
  });
}

/// "/dev/sda" of "8:0"; asked of the kernel once.
const std::string& device_name(uint32_t major, uint32_t minor) {
  static thread_local std::map<std::pair<uint32_t, uint32_t>, std::string> known;
  auto& name = known[{major, minor}];
  if (name.empty()) {
    const std::string numbers = fmt::format("{}:{}", major, minor);
    std::error_code error;
    const auto link = std::filesystem::read_symlink("/sys/dev/block/" + numbers, error);
    name = error ? numbers : "/dev/" + link.filename().native();
  }
  return name;
}

struct DiskFamily {
  std::string_view name;
  double probes::DiskUse::*value;
  std::string_view help;
};
constexpr std::array kDiskFamilies = {
    DiskFamily{"container_fs_reads_bytes_total", &probes::DiskUse::read_bytes,
               "Bytes read from disks."},
    DiskFamily{"container_fs_writes_bytes_total", &probes::DiskUse::write_bytes,
               "Bytes written to disks."},
    DiskFamily{"container_fs_reads_total", &probes::DiskUse::reads, "Reads from disks."},
    DiskFamily{"container_fs_writes_total", &probes::DiskUse::writes, "Writes to disks."},
};

void write_disks(FamilyWriter& out, const LiveTable& table) {
  for (const auto& family : kDiskFamilies) {
    out.family(family.name, kCounter, family.help);
    for_each_app(table, [&](const LiveApp& app) {
      for (const auto& disk : app.use().disks)
        out.sample(app.labels(), {"device", device_name(disk.major, disk.minor)},
                   disk.*family.value);
    });
  }
}

void write_block_devices(FamilyWriter& out, const LiveTable& table) {
  out.family("container_blkio_device_usage_total", kCounter,
             "Bytes read from and written to disks.");
  for_each_app(table, [&](const LiveApp& app) {
    for (const auto& disk : app.use().disks) {
      const std::string major = std::to_string(disk.major);
      const std::string minor = std::to_string(disk.minor);
      std::array<Label, 4> labels{{{"device", device_name(disk.major, disk.minor)},
                                   {"major", major},
                                   {"minor", minor},
                                   {"operation", "Read"}}};
      out.sample(app.labels(), labels, disk.read_bytes);
      labels.back().value = "Write";
      out.sample(app.labels(), labels, disk.write_bytes);
    }
  });
}

using Direction = probes::InterfaceUse::Direction;
struct NetworkFamily {
  std::string_view name;
  Direction probes::InterfaceUse::*direction;
  double Direction::*value;
  std::string_view help;
};
constexpr auto kReceived = &probes::InterfaceUse::received;
constexpr auto kSent = &probes::InterfaceUse::sent;
constexpr std::array kNetworkFamilies = {
    NetworkFamily{"container_network_receive_bytes_total", kReceived, &Direction::bytes,
                  "Bytes received."},
    NetworkFamily{"container_network_receive_packets_total", kReceived, &Direction::packets,
                  "Packets received."},
    NetworkFamily{"container_network_receive_errors_total", kReceived, &Direction::errors,
                  "Packets received with errors."},
    NetworkFamily{"container_network_receive_packets_dropped_total", kReceived, &Direction::drops,
                  "Packets received and dropped."},
    NetworkFamily{"container_network_transmit_bytes_total", kSent, &Direction::bytes,
                  "Bytes sent."},
    NetworkFamily{"container_network_transmit_packets_total", kSent, &Direction::packets,
                  "Packets sent."},
    NetworkFamily{"container_network_transmit_errors_total", kSent, &Direction::errors,
                  "Packets sent with errors."},
    NetworkFamily{"container_network_transmit_packets_dropped_total", kSent, &Direction::drops,
                  "Packets dropped instead of sent."},
};

void write_networks(FamilyWriter& out, const LiveTable& table) {
  for (const auto& family : kNetworkFamilies) {
    out.family(family.name, kCounter, family.help);
    for_each_app(table, [&](const LiveApp& app) {
      for (const auto& interface : app.use().interfaces)
        out.sample(app.labels(), {"interface", interface.name.data()},
                   interface.*family.direction.*family.value);
    });
  }
}

template <typename Value>
void write_each(FamilyWriter& out, const LiveTable& table, std::string_view name,
                std::string_view help, const Value& value) {
  out.family(name, kGauge, help);
  for_each_app(table, [&](const LiveApp& app) {
    if (const std::optional<double> number = value(app)) out.sample(app.labels(), *number);
  });
}

/// As cAdvisor has it, no limit of memory is 0, and no quota is no sample.
void write_limits(FamilyWriter& out, const LiveTable& table) {
  constexpr double kMicroseconds = 1e6;
  write_each(out, table, "container_spec_cpu_period",
             "The period of the CPU quota, in microseconds.", [](const LiveApp& app) {
               return std::optional(std::round(app.limits().cpu_period_seconds * kMicroseconds));
             });
  write_each(out, table, "container_spec_cpu_quota", "CPU time in each period, in microseconds.",
             [](const LiveApp& app) {
               const auto quota = app.limits().cpu_quota_seconds;
               return quota ? std::optional(std::round(*quota * kMicroseconds)) : std::nullopt;
             });
  write_each(out, table, "container_spec_cpu_shares",
             "Its weight when CPUs are short; 1024 is usual.",
             [](const LiveApp& app) { return app.limits().cpu_shares; });
  write_each(out, table, "container_spec_memory_limit_bytes", "Its limit of memory; 0: none.",
             [](const LiveApp& app) { return std::optional(app.limits().memory.value_or(0)); });
  write_each(out, table, "container_spec_memory_swap_limit_bytes", "Its limit of swap; 0: none.",
             [](const LiveApp& app) { return std::optional(app.limits().swap.value_or(0)); });
  write_each(out, table, "container_threads_max", "Its limit of threads; 0: none.",
             [](const LiveApp& app) { return std::optional(app.limits().threads.value_or(0)); });
}

void write_times(FamilyWriter& out, const LiveTable& table) {
  const auto unix_seconds = [](Timestamp time) {
    return std::optional(static_cast<double>(unix_ns(time)) * 1e-9);
  };
  write_each(out, table, "container_start_time_seconds", "When it began, since 1970.",
             [&](const LiveApp& app) { return unix_seconds(app.started()); });
  write_each(out, table, "container_last_seen", "When it was last read, in seconds since 1970.",
             [&](const LiveApp& app) { return unix_seconds(app.last_seen()); });
  write_each(out, table, "assay_container_lower_bound",
             "1: it ended before its last moment could be read, so its counters may be too low.",
             [](const LiveApp& app) { return std::optional(app.is_lower_bound() ? 1.0 : 0.0); });
}

}  // namespace

void write_containers(FamilyWriter& out, const LiveTable& table) {
  write_cpu(out, table);
  write_uses(out, table, kFamilies, [](const LiveApp&) { return true; });
  write_uses(out, table, kQuotaFamilies,
             [](const LiveApp& app) { return app.limits().cpu_quota_seconds.has_value(); });
  write_faults(out, table);
  write_disks(out, table);
  write_block_devices(out, table);
  write_networks(out, table);
  write_limits(out, table);
  write_times(out, table);
}

void write_machine(FamilyWriter& out, const Device& device) {
  const promapi::LabelText labels({{"machine_id", device.machine_id}});
  out.family("machine_cpu_cores", kGauge, "CPUs that are on.");
  if (device.cores > 0) out.sample(labels, device.cores);
  out.family("machine_memory_bytes", kGauge, "Memory of the machine.");
  if (device.memory_bytes > 0) out.sample(labels, static_cast<double>(device.memory_bytes));
}

}  // namespace assay::agent
