// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <assay/base/files.h>
#include <assay/base/result.h>
#include <assay/base/time.h>

namespace assay::session {

/// How long to wait for another session to end; waiting forever is the longest time there is.
struct LockWait {
  static constexpr Nanoseconds kForever = Nanoseconds::max();

  Nanoseconds patience{0};
  /// Told who holds the lock when waiting begins, and again when it is somebody else.
  std::function<void(const std::string& holder)> on_wait;
  int interrupt_fd = -1;  ///< readable: stop waiting
};

/// $ASSAY_LOCK alone, else /run/lock/assay.lock and, where that cannot be, /tmp/assay.lock.
std::vector<std::filesystem::path> lock_files();

/// Held by the one session that measures on this machine, whoever runs it: sessions queue instead
/// of disturbing each other's numbers. Among several that wait, anyone may be next. The kernel
/// frees it when our process ends, however it ends; programs that we start do not hold it.
class DeviceLock {
 public:
  /// `who` is what others are told: the app or session. Without the patience to get it an error
  /// that says who has it and how to wait (`temporary`); an interrupt is an error too. The first
  /// of `files` that can be made or opened is used; what is there and no plain file is an error.
  static Result<DeviceLock> acquire(const std::string& who, const LockWait& wait = {},
                                    const std::vector<std::filesystem::path>& files = lock_files(),
                                    const SysRoot& root = SysRoot());
  DeviceLock(DeviceLock&&) = default;
  DeviceLock& operator=(DeviceLock&&) = delete;
  DeviceLock(const DeviceLock&) = delete;
  DeviceLock& operator=(const DeviceLock&) = delete;
  ~DeviceLock();

  /// Why it may not keep all sessions of the machine apart; empty: it does, or its place was
  /// chosen by hand.
  const std::string& note() const { return note_; }

 private:
  DeviceLock(Fd file, std::string note) : file_(std::move(file)), note_(std::move(note)) {}

  Fd file_;
  std::string note_;
};

}  // namespace assay::session
