// SPDX-License-Identifier: Apache-2.0
#include "clock_ticks.h"
#include "file_probe.h"
#include "node/node_sensors.h"
#include "node/process_count.h"
#include "text/node.h"
#include "text/pressure.h"

#include <fmt/format.h>

#include <assay/probes/probe.h>

namespace assay::probes {
namespace {

using enum MetricId;

void read_stat(Texts texts, Values values) {
  const auto stat = parse_node_stat(texts[0]);
  if (!stat) return;
  values[0] = ticks_to_seconds(stat->user_ticks + stat->system_ticks);
  values[1] = ticks_to_seconds(stat->user_ticks);
  values[2] = ticks_to_seconds(stat->system_ticks);
  values[3] = as_double(stat->context_switches);
}

void read_meminfo(Texts texts, Values values) {
  const Meminfo memory = parse_meminfo(texts[0]);
  values[0] = as_double(memory.used);
  values[1] = as_double(memory.resident);
  values[2] = as_double(memory.cache);
  values[3] = as_double(memory.swap_used);
}

void read_vmstat(Texts texts, Values values) {
  const Vmstat stat = parse_vmstat(texts[0]);
  values[0] = as_double(stat.faults);
  values[1] = as_double(stat.major_faults);
}

void read_diskstats(Texts texts, Values values) {
  const Diskstats disks = parse_diskstats(texts[0]);
  if (disks.disks == 0) return;
  values[0] = static_cast<double>(disks.read_bytes);
  values[1] = static_cast<double>(disks.write_bytes);
  values[2] = static_cast<double>(disks.reads);
  values[3] = static_cast<double>(disks.writes);
}

void read_net_dev(Texts texts, Values values) {
  const NetDev net = parse_net_dev(texts[0], Interfaces::outward);
  if (net.interfaces == 0) return;
  values[0] = static_cast<double>(net.receive_bytes);
  values[1] = static_cast<double>(net.transmit_bytes);
}

void read_loadavg(Texts texts, Values values) {
  const auto load = parse_loadavg(texts[0]);
  if (!load) return;
  values[0] = load->load1;
  values[1] = static_cast<double>(load->threads);
}

void read_file_nr(Texts texts, Values values) {
  const auto open = parse_first_int(texts[0]);
  if (open) values[0] = static_cast<double>(*open);
}

void read_cpu_pressure(Texts texts, Values values) {
  values[0] = parse_pressure(texts[0]).waiting_seconds;
}

void read_pressure(Texts texts, Values values) {
  const Pressure pressure = parse_pressure(texts[0]);
  values[0] = pressure.waiting_seconds;
  values[1] = pressure.stalled_seconds;
}

std::vector<FilePart> cpu_parts() {
  return {{{"/proc/stat"},
           {{cpu_usage_seconds_total, "/proc/stat cpu: user, nice, system, irq, softirq"},
            {cpu_user_seconds_total, "/proc/stat cpu: user, nice"},
            {cpu_system_seconds_total, "/proc/stat cpu: system, irq, softirq"},
            {context_switches_total, "/proc/stat ctxt"}},
           read_stat}};
}

std::vector<FilePart> memory_parts() {
  return {{{"/proc/meminfo"},
           {{memory_bytes, "/proc/meminfo MemTotal less MemAvailable"},
            {memory_rss_bytes, "/proc/meminfo AnonPages and Mapped"},
            {memory_cache_bytes, "/proc/meminfo Cached and Buffers"},
            {memory_swap_bytes, "/proc/meminfo SwapTotal less SwapFree"}},
           read_meminfo}};
}

std::vector<FilePart> fault_parts() {
  return {{{"/proc/vmstat"},
           {{page_faults_total, "/proc/vmstat pgfault"},
            {major_page_faults_total, "/proc/vmstat pgmajfault"}},
           read_vmstat}};
}

std::vector<FilePart> disk_parts() {
  return {{{"/proc/diskstats"},
           {{disk_read_bytes_total, "/proc/diskstats, whole disks"},
            {disk_write_bytes_total, "/proc/diskstats, whole disks"},
            {disk_reads_total, "/proc/diskstats, whole disks"},
            {disk_writes_total, "/proc/diskstats, whole disks"}},
           read_diskstats}};
}

std::vector<FilePart> network_parts() {
  return {{{"/proc/net/dev"},
           {{network_receive_bytes_total, "/proc/net/dev, interfaces that lead outside"},
            {network_transmit_bytes_total, "/proc/net/dev, interfaces that lead outside"}},
           read_net_dev}};
}

std::vector<FilePart> load_parts() {
  return {{{"/proc/loadavg"},
           {{load1, "/proc/loadavg"}, {threads, "/proc/loadavg, all tasks"}},
           read_loadavg},
          {{"/proc/sys/fs/file-nr"}, {{open_files, "/proc/sys/fs/file-nr"}}, read_file_nr}};
}

std::vector<FilePart> pressure_parts() {
  return {{{"/proc/pressure/cpu"},
           {{pressure_cpu_waiting_seconds_total, "/proc/pressure/cpu some"}},
           read_cpu_pressure},
          {{"/proc/pressure/memory"},
           {{pressure_memory_waiting_seconds_total, "/proc/pressure/memory some"},
            {pressure_memory_stalled_seconds_total, "/proc/pressure/memory full"}},
           read_pressure},
          {{"/proc/pressure/io"},
           {{pressure_io_waiting_seconds_total, "/proc/pressure/io some"},
            {pressure_io_stalled_seconds_total, "/proc/pressure/io full"}},
           read_pressure}};
}

}  // namespace

Probes node_probes(const SysRoot& root) {
  Probes probes;
  const auto add = [&](const char* name, Pace pace, std::vector<FilePart> parts) {
    probes.push_back(std::make_unique<FileProbe>(root, name, pace, Scope::node, std::move(parts)));
  };
  add("node cpu", Pace::beat, cpu_parts());
  add("node memory", Pace::beat, memory_parts());
  add("node faults", Pace::slow, fault_parts());
  add("node disk", Pace::beat, disk_parts());
  add("node network", Pace::beat, network_parts());
  add("node load", Pace::slow, load_parts());
  add("node pressure", Pace::beat, pressure_parts());
  probes.push_back(make_process_count_probe(root));
  probes.push_back(make_frequency_probe(root));
  probes.push_back(make_temperature_probe(root));
  return probes;
}

}  // namespace assay::probes
