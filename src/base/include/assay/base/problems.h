// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <assay/base/result.h>

namespace assay {

/// One thing that is wrong, where it stands, and what to do instead.
struct Diagnostic {
  std::string file;  ///< empty: not from a file
  int line = 0;      ///< from 1; 0: the file as a whole
  std::string message;
  ErrorKind kind = ErrorKind::input;

  /// "sage.yaml:12: unknown key 'timout'; did you mean 'timeout'?"
  std::string text() const;
};

/// Collects what is wrong with one file. After a hundred problems the rest is only mentioned.
class Problems {
 public:
  explicit Problems(std::string file) : file_(std::move(file)) {}

  void add(int line, std::string message);
  bool empty() const { return diagnostics_.empty(); }
  size_t size() const { return diagnostics_.size(); }
  const std::string& file() const { return file_; }
  /// All of them, in the order of lines.
  std::vector<Diagnostic> take();

 private:
  std::string file_;
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace assay
