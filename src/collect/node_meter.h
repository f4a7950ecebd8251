// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include <assay/base/files.h>
#include <assay/base/time.h>
#include <assay/probes/probe.h>
#include <assay/samples/records.h>

namespace assay::collect {

/// What the whole machine did beside its CPUs between two moments; what it cannot tell is absent.
struct NodeUse {
  std::optional<double> memory_percent;
  std::optional<double> disk_read_bytes;
  std::optional<double> disk_write_bytes;
  std::optional<double> joules;
};

class NodeMeter {
 public:
  explicit NodeMeter(Device device, const SysRoot& root = SysRoot());

  void begin();
  NodeUse end();

 private:
  void sample();

  SystemClock clock_;
  Device device_;
  SysRoot root_;
  probes::Probes probes_;
  MemorySeries series_;
  Timestamp began_;
};

/// How full the file system is that holds "/".
std::optional<double> disk_percent();

}  // namespace assay::collect
