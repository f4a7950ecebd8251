// SPDX-License-Identifier: Apache-2.0
#include "families/kernel_text.h"

#include <array>
#include <limits>

#include <assay/base/files.h>
#include <assay/base/text.h>

namespace assay::agent {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr size_t kLargestFile = 4U << 20U;

}  // namespace

std::string_view Words::next() {
  const size_t begin = rest_.find_first_not_of(" \t");
  if (begin == rest_.npos) return rest_ = {};
  rest_.remove_prefix(begin);
  const std::string_view word = rest_.substr(0, rest_.find_first_of(" \t"));
  rest_.remove_prefix(word.size());
  return word;
}

double Words::next_number() {
  const auto number = parse_uint(next());
  return number ? static_cast<double>(*number) : kNone;
}

bool next_line(std::string_view& text, std::string_view& line) {
  if (text.empty()) return false;
  line = next_field(text, '\n');
  return true;
}

std::optional<std::string_view> TextBuffer::read(int fd) {
  while (true) {
    const auto text = pread_text(fd, buffer_);
    // A full buffer may have cut the content.
    if (!text || text->size() < buffer_.size() || buffer_.size() >= kLargestFile) return text;
    buffer_.resize(buffer_.size() * 2);
  }
}

double read_number(int fd) {
  std::array<char, 64> buffer{};
  const auto text = pread_text(fd, buffer);
  const auto number = text ? parse_int(trim(*text)) : std::nullopt;
  return number ? static_cast<double>(*number) : kNone;
}

}  // namespace assay::agent
