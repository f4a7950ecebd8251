// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <sys/types.h>
#include <vector>

#include <assay/base/files.h>
#include <assay/base/result.h>
#include <assay/base/time.h>
#include <assay/infer/child.h>

namespace assay::infer {

/// A program that answers each line on its input by one on its output, and ends when its input
/// does. It is ended with this object.
class LineProcess {
 public:
  static Result<LineProcess> start(const std::vector<std::string>& command);

  pid_t pid() const { return child_.pid(); }
  /// Asked several times a second while a line is awaited; false gives up.
  void while_wanted(std::function<bool()> wanted) { wanted_ = std::move(wanted); }
  Result<void> write(const std::string& line);
  /// The next line, without its end. An error when none comes in time, when it is too long, or when
  /// the program has ended; it says how, and what the program said last.
  Result<std::string> read(Milliseconds patience);

  static constexpr size_t kLongestLine = 16U << 20U;

 private:
  LineProcess(Child child, std::string program, Fd input, Fd output, Fd errors);
  Failure ended();
  std::string last_words() const;
  Result<void> await(std::chrono::steady_clock::time_point end);

  Child child_;
  std::string program_;
  Fd input_;
  Fd output_;
  Fd errors_;  ///< a file without a name
  std::string ahead_;
  std::function<bool()> wanted_;
};

}  // namespace assay::infer
