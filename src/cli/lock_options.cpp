// SPDX-License-Identifier: Apache-2.0
#include "lock_options.h"

#include "duration_option.h"

#include <fmt/format.h>

namespace assay::cli {

void add_lock_options(CLI::App& command, LockArguments& args) {
  command
      .add_option_function<std::string>(
          "--wait", [&args](const std::string& time) { args.wait = time; },
          "Wait for another session on this device to end, at most this long if a time is given")
      ->option_text("[DURATION]")
      ->expected(0, 1);
  command.add_flag("--no-lock", args.no_lock,
                   "Measure beside another session; the numbers of both may be disturbed");
}

Result<Nanoseconds> patience(const LockArguments& args) {
  if (!args.wait) return Nanoseconds(0);
  if (args.no_lock) return bad_input("--wait does not go with --no-lock, which never waits");
  if (args.wait->empty()) return session::LockWait::kForever;
  return duration_of("--wait", *args.wait);
}

Result<std::optional<session::DeviceLock>> lock_device(const LockArguments& args,
                                                       const std::string& who) {
  std::optional<session::DeviceLock> held;
  session::LockWait wait;
  ASSAY_TRY(wait.patience, patience(args));
  if (args.no_lock) return held;
  wait.on_wait = [](const std::string& holder) {
    fmt::print(stderr, "assay: this device is in use by {}; waiting for it to end\n", holder);
  };
  ASSAY_TRY(auto lock, session::DeviceLock::acquire(who, wait));
  if (!lock.note().empty()) fmt::print(stderr, "assay: {}\n", lock.note());
  held.emplace(std::move(lock));
  return held;
}

}  // namespace assay::cli
