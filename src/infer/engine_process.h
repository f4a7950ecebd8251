// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

#include <assay/base/files.h>
#include <assay/base/result.h>
#include <assay/base/time.h>

namespace assay::infer {

/// A program that answers each line on its input by one on its output, and ends when its input
/// does. It is ended with this object.
class LineProcess {
 public:
  static Result<LineProcess> start(const std::vector<std::string>& command);
  LineProcess(LineProcess&& other) noexcept;
  LineProcess& operator=(LineProcess&& other) noexcept;
  ~LineProcess();

  pid_t pid() const { return pid_; }
  Result<void> write(const std::string& line);
  /// The next line, without its end. An error when none comes in time, when it is too long, or when
  /// the program has ended; it says how, and what the program said last.
  Result<std::string> read(Milliseconds patience);

  static constexpr size_t kLongestLine = 16U << 20U;

 private:
  LineProcess(pid_t pid, std::string program, Fd input, Fd output, Fd errors);
  Failure ended();
  std::string last_words() const;
  void end();

  pid_t pid_ = 0;
  std::string program_;
  Fd input_;
  Fd output_;
  Fd errors_;  ///< a file without a name
  std::string ahead_;
};

}  // namespace assay::infer
