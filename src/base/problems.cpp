// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>

#include <assay/base/problems.h>

namespace assay {
namespace {

constexpr size_t kMostProblems = 100;

}  // namespace

std::string Diagnostic::text() const {
  if (file.empty()) return message;
  if (line <= 0) return fmt::format("{}: {}", file, message);
  return fmt::format("{}:{}: {}", file, line, message);
}

void Problems::add(int line, std::string message) {
  if (diagnostics_.size() > kMostProblems) return;
  if (diagnostics_.size() == kMostProblems) {
    message = fmt::format("more than {} errors; correct these first", kMostProblems);
    line = 0;
  }
  diagnostics_.push_back({file_, line, std::move(message), ErrorKind::input});
}

std::vector<Diagnostic> Problems::take() {
  std::stable_sort(diagnostics_.begin(), diagnostics_.end(),
                   [](const Diagnostic& a, const Diagnostic& b) {
                     return a.line != 0 && (b.line == 0 || a.line < b.line);
                   });
  return std::move(diagnostics_);
}

}  // namespace assay
