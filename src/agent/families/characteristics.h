// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "families/power_supply.h"

#include <vector>

#include <assay/agent/agent.h>
#include <assay/base/files.h>
#include <assay/base/time.h>
#include <assay/promapi/family_writer.h>

namespace assay::agent {

/// char_node_*: what this machine is, for those who place apps. All but the battery's charge and
/// the processor's power is read once, at the start. What the machine does not tell is left out.
class Characteristics {
 public:
  Characteristics(const SysRoot& root, const Clock& clock, const Location& location);

  void write(promapi::FamilyWriter& out);

 private:
  /// A family with a value that stays.
  struct Fact {
    std::string_view family;
    std::string_view help;
    promapi::LabelText labels;
    double value = 1;
  };

  std::vector<Fact> facts_;  ///< those of one family beside each other
  Battery battery_;
  CpuPower power_;
  promapi::LabelText plugged_;
  promapi::LabelText unplugged_;
  promapi::LabelText cpu_;
};

}  // namespace assay::agent
