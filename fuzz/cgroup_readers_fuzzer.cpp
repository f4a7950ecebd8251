// SPDX-License-Identifier: Apache-2.0
// The files of control groups, and the lists of where they are, on any kernel.
#include "../src/probes/text/cgroup.h"
#include "../src/probes/text/cgroup_paths.h"
#include "../src/probes/text/fields.h"
#include "../src/probes/text/pressure.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

using namespace assay::probes;

namespace {

void read_lines(std::string_view text) {
  for (std::string_view line; next_line(text, line);) {
    if (const auto member = parse_cgroup_line(line); member && member->path.front() != '/') {
      __builtin_trap();
    }
    if (const auto mount = parse_mountinfo_line(line)) (void)has_word(mount->options, "cpu");
    if (const auto mount = parse_mounts_line(line); mount && mount->mount_point.empty()) {
      __builtin_trap();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)parse_cpu_stat_v1(text);
  (void)parse_cpu_stat_v2(text);
  (void)parse_cpuacct_usage(text);
  (void)parse_cpuacct_stat(text);
  (void)parse_memory_stat_v1(text);
  (void)parse_memory_stat_v2(text);
  (void)parse_io_stat(text);
  (void)parse_blkio(text);
  (void)parse_pressure(text);
  read_lines(text);
  return 0;
}
