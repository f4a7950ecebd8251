// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <assay/base/files.h>
#include <assay/samples/records.h>

namespace assay::agent {

/// A GPU as far as the kernel's files tell it, without any library of its maker.
struct Gpu {
  enum class Kind { unknown, integrated, dedicated };
  std::string model;  ///< the driver's name for it, else its maker and number: "NVIDIA 0x2330"
  Kind kind = Kind::unknown;
};

/// GPUs on PCI that can compute, in the order of their addresses, and Jetson's own. What only draws
/// a screen (servers' management chips, virtual machines' displays) is none.
std::vector<Gpu> find_gpus(const SysRoot& root, const Device& device);

}  // namespace assay::agent
