// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

#include <assay/base/result.h>
#include <assay/base/time.h>

namespace assay::infer {

/// A program of ours that never outlives us: it has a process group of its own, which is killed
/// with this object, and the kernel kills it when the thread that started it ends, however it does.
class Child {
 public:
  /// Descriptors that become its standard ones; -1: nothing to read, and nowhere to write.
  struct Streams {
    int input = -1;
    int output = -1;
    int errors = -1;
  };
  static Result<Child> start(const std::vector<std::string>& command, const Streams& streams);
  Child() = default;
  Child(Child&& other) noexcept : pid_(std::exchange(other.pid_, 0)) {}
  Child& operator=(Child&& other) noexcept;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { end(); }

  /// 0: none, or it has been waited for.
  pid_t pid() const { return pid_; }
  bool running();
  /// Waits for it, and kills what it leaves behind in its group; the status is that of waitpid().
  int wait();
  /// The same, but when it still runs after so long it is killed.
  int wait(Milliseconds patience);
  /// Kills it and all that it started in its group.
  void end();
  /// The same, but waits no longer than this: a program that hangs in a driver cannot be killed,
  /// and is left to the kernel. The status is that of waitpid(); nothing when there is none.
  std::optional<int> end(Milliseconds patience);

 private:
  bool ends_within(Milliseconds patience);
  explicit Child(pid_t pid) : pid_(pid) {}
  pid_t pid_ = 0;
};

}  // namespace assay::infer
