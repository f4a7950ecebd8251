// SPDX-License-Identifier: Apache-2.0
// The tables of /proc that the node daemon tells, of any kernel and with any names in them: what
// comes out is valid text, and the same when the same is read again.
#include "families/node_filesystems.h"
#include "families/node_tables.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <assay/promapi/exposition.h>

using namespace assay;
using namespace assay::agent;

namespace {

std::string written(NodeTable& table, std::string_view text) {
  static promapi::Exposition out;  // its buffer is large
  out.start(promapi::TextFormat::classic);
  table.write(text, out);
  return std::string(out.finish());
}

void check(NodeTable& table, std::string_view text) {
  const std::string first = written(table, text);
  if (promapi::valid_utf8(first) != first) __builtin_trap();
  if (written(table, text) != first) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const SysRoot nowhere("/nonexistent");
  const std::array<std::unique_ptr<NodeTable>, 9> tables = {
      stat_table(),   load_table(),         memory_table(),
      vmstat_table(), pressure_table("io"), pressure_table("cpu"),
      files_table(),  disk_table(),         network_table(nowhere)};
  for (const auto& table : tables) check(*table, text);
  for (const auto& mount : local_mounts(text)) {
    if (mount.point.empty() || mount.point.front() != '/') __builtin_trap();
  }
  return 0;
}
