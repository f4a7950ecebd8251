// SPDX-License-Identifier: Apache-2.0
// A process chooses its own name, and every kernel writes /proc a little differently.
#include "../src/probes/text/fields.h"
#include "../src/probes/text/node.h"
#include "../src/probes/text/pressure.h"
#include "../src/probes/text/process.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

using namespace assay::probes;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto stat = parse_process_stat(text)) {
    if (stat->pid < 0 || stat->parent < 0 || stat->name.size() > size) __builtin_trap();
  }
  if (const auto status = parse_process_status(text)) {
    if (status->pid < 0 || status->group < 0) __builtin_trap();
  }
  (void)parse_process_io(text);
  (void)parse_waiting_ns(text);
  (void)parse_node_stat(text);
  const Meminfo memory = parse_meminfo(text);
  if (memory.used && *memory.used > *memory.total) __builtin_trap();
  (void)parse_vmstat(text);
  (void)parse_diskstats(text);
  const NetDev all = parse_net_dev(text, Interfaces::all);
  if (parse_net_dev(text, Interfaces::outward).interfaces > all.interfaces) __builtin_trap();
  (void)parse_loadavg(text);
  (void)parse_pressure(text);
  (void)parse_first_int(text);
  (void)keyed_text(text, "model name");
  return 0;
}
