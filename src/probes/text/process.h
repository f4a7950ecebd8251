// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

/// The files of /proc/PID. Pure functions; nothing is returned for text that is not of that form.
namespace assay::probes {

/// /proc/PID/stat. Times are in clock ticks; the child_ fields belong to children that were waited
/// for.
struct ProcessStat {
  int64_t pid = 0;
  std::string_view name;  ///< points into the text; may hold blanks and parentheses
  char state = '?';       ///< 'Z': ended and not yet waited for
  int64_t parent = 0;
  uint64_t minor_faults = 0;
  uint64_t child_minor_faults = 0;
  uint64_t major_faults = 0;
  uint64_t child_major_faults = 0;
  uint64_t user_ticks = 0;
  uint64_t system_ticks = 0;
  uint64_t child_user_ticks = 0;
  uint64_t child_system_ticks = 0;
  uint64_t threads = 0;
  uint64_t start_ticks = 0;
  uint64_t rss_pages = 0;
};
std::optional<ProcessStat> parse_process_stat(std::string_view text);

/// /proc/PID/status. The memory fields are absent for a zombie and for kernel threads.
struct ProcessStatus {
  int64_t pid = 0;
  int64_t group = 0;  ///< Tgid: differs from pid for a thread
  int64_t parent = 0;
  char state = '?';
  uint64_t threads = 0;
  std::optional<uint64_t> rss_bytes;
  std::optional<uint64_t> peak_rss_bytes;
  std::optional<uint64_t> swap_bytes;
  std::optional<uint64_t> voluntary_switches;
  std::optional<uint64_t> forced_switches;
};
std::optional<ProcessStatus> parse_process_status(std::string_view text);

/// /proc/PID/task/TID/schedstat: nanoseconds in which the thread was ready and waited for a CPU.
std::optional<uint64_t> parse_waiting_ns(std::string_view text);

/// /proc/PID/io: what reached or will reach a disk, children that were waited for included.
struct ProcessIo {
  uint64_t read_bytes = 0;
  uint64_t write_bytes = 0;
};
std::optional<ProcessIo> parse_process_io(std::string_view text);

}  // namespace assay::probes
