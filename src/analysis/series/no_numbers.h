// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace assay::analysis {

/// Cells that are no numbers where numbers should be, to tell all of them at once.
class NoNumbers {
 public:
  void add(std::string_view cell, size_t line);
  bool empty() const { return cells_ == 0; }
  /// "FILE:3: 'Ice' is no number, nor 'Eqp' in line 7", and what to do.
  std::string text(const std::string& who) const;

 private:
  struct Word {
    std::string text;
    size_t line;  ///< the first one
  };
  std::string others() const;
  std::string hint() const;

  std::vector<Word> words_;  ///< each once, in the order of their lines
  size_t cells_ = 0;
  bool more_ = false;  ///< words than are remembered
};

}  // namespace assay::analysis
