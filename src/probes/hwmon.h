// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <assay/base/files.h>
#include <assay/samples/series.h>

namespace assay::probes {

/// One file of a hardware monitoring chip: /sys/class/hwmon/hwmon2/temp1_input.
struct HwmonInput {
  std::string folder;
  std::string path;
  std::string chip;    ///< "coretemp"
  std::string sensor;  ///< its label ("Core 0"), else "temp1"
  int number = 0;      ///< the 1 of temp1_input

  Labels labels() const { return {{"chip", chip}, {"sensor", sensor}}; }
};

/// Every `kind`N_`attribute` of every chip.
std::vector<HwmonInput> hwmon_inputs(const SysRoot& root, std::string_view kind,
                                     std::string_view attribute);

}  // namespace assay::probes
