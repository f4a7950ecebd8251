// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include <assay/base/time.h>
#include <assay/session/device_lock.h>

namespace assay::cli {

/// `--wait` and `--no-lock`: one at a time measures on a device.
struct LockArguments {
  std::optional<std::string> wait;  ///< empty: as long as it takes
  bool no_lock = false;
};

void add_lock_options(CLI::App& command, LockArguments& args);

/// How long to wait for the device.
Result<Nanoseconds> patience(const LockArguments& args);

/// Keeps others from measuring until it is gone; nothing with --no-lock. `who` is what they are
/// told.
Result<std::optional<session::DeviceLock>> lock_device(const LockArguments& args,
                                                       const std::string& who);

}  // namespace assay::cli
