// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "families/kernel_text.h"
#include "families/node_rows.h"

#include <string>
#include <vector>

#include <assay/base/files.h>

namespace assay::agent {

/// One line of a mount table.
struct Mount {
  std::string device;
  std::string point;
  std::string type;
  bool readonly = false;
};

/// The mounts worth a look, each once. Left out is what node_exporter leaves out (pseudo file
/// systems, the places of containers), and whatever could make statvfs(2) wait for another machine
/// or process: file systems that are not known to be local, and what is mounted below those.
std::vector<Mount> local_mounts(std::string_view mounts_text);

/// node_filesystem_*: how full the local file systems are. The kernel tells when something was
/// mounted, so that its long table is only read then. Mount points are not kept open, since nobody
/// could unmount them.
class NodeFilesystems {
 public:
  explicit NodeFilesystems(const SysRoot& root);

  void write(TextBuffer& buffer, promapi::FamilyWriter& out);

 private:
  static constexpr size_t kColumns = 7;

  bool has_changed() const;
  void take(std::string_view text);

  SysRoot root_;
  Fd mounts_;
  bool is_known_ = false;
  std::vector<NodeRow<kColumns>> rows_;  ///< each named by its mount point as we see it
};

}  // namespace assay::agent
