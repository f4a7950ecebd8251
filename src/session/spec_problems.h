// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <assay/base/wording.h>
#include <assay/session/spec.h>

namespace assay::session {

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

}  // namespace assay::session
