// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include <assay/collect/share.h>

namespace assay::cli {

/// `--cpus` and `--quota`: a part of this machine that stands for a device.
struct ShareArguments {
  std::string cpus;
  double quota = 0;
};

inline void add_share_options(CLI::App& command, ShareArguments& args) {
  constexpr const char* kGroup = "A part of this machine as the device";
  command.add_option("--cpus", args.cpus, "Only these cores, e.g. 0-2,5")->group(kGroup);
  command.add_option("--quota", args.quota, "Cores' worth of CPU time, e.g. 0.5 (needs root)")
      ->check(CLI::Range(0.01, 1024.0))
      ->group(kGroup);
}

inline Result<collect::Share> read_share(const ShareArguments& args) {
  collect::Share share{.quota = args.quota};
  if (!args.cpus.empty()) {
    ASSAY_TRY(share.cpus, collect::parse_cpus(args.cpus));
  }
  return share;
}

}  // namespace assay::cli
