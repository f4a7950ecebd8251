// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "families/kernel_text.h"
#include "families/node_filesystems.h"
#include "families/node_sensors.h"
#include "families/node_tables.h"

#include <memory>
#include <vector>

#include <assay/base/files.h>
#include <assay/base/time.h>
#include <assay/promapi/family_writer.h>

namespace assay::agent {

/// node_*: the core of node_exporter's families, with its names, labels, kinds and units, and what
/// it leaves out by default. Files are opened once, at the start; what this machine lacks is left
/// out. A scrape allocates nothing as long as the machine has the same devices.
class NodeFamilies {
 public:
  NodeFamilies(const SysRoot& root, const Clock& clock);

  void write(promapi::FamilyWriter& out);

 private:
  struct Source {
    Fd file;
    std::unique_ptr<NodeTable> table;
  };
  void add(const SysRoot& root, std::string_view path, std::unique_ptr<NodeTable> table);

  const Clock& clock_;
  TextBuffer buffer_;
  std::vector<Source> sources_;
  NodeFilesystems filesystems_;
  NodeSensors sensors_;
  promapi::LabelText uname_;
};

}  // namespace assay::agent
