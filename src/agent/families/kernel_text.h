// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace assay::agent {

/// The words of a line of the kernel's, one after another. Takes any bytes, allocates nothing.
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}

  /// Empty when there is none left.
  std::string_view next();
  /// NaN when the next word is no whole number.
  double next_number();

 private:
  std::string_view rest_;
};

/// Takes the next line off `text`; false when there is none left.
bool next_line(std::string_view& text, std::string_view& line);

/// Reads kept-open files of the kernel, all into one buffer that grows to the largest of them.
class TextBuffer {
 public:
  /// The fresh content, valid until the next read; nothing when it cannot be read.
  std::optional<std::string_view> read(int fd);

 private:
  std::vector<char> buffer_ = std::vector<char>(4096);
};

/// The whole number that a sensor's file has, maybe a negative one; NaN when it has none now.
double read_number(int fd);

}  // namespace assay::agent
