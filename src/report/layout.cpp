// SPDX-License-Identifier: Apache-2.0
#include "layout.h"

#include <algorithm>

#include <assay/base/text.h>

namespace assay::report {
namespace {

bool starts_code_point(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
}

}  // namespace

size_t display_width(std::string_view utf8) {
  return static_cast<size_t>(std::count_if(utf8.begin(), utf8.end(), starts_code_point));
}

std::string fitted(std::string_view utf8, size_t width) {
  if (display_width(utf8) <= width) return std::string(utf8);
  std::string out;
  size_t taken = 0;
  for (const char c : utf8) {
    if (starts_code_point(c) && ++taken >= width) break;
    out += c;
  }
  return out + "…";
}

std::string left(std::string_view utf8, size_t width) {
  std::string out(utf8);
  out.append(width - std::min(width, display_width(utf8)), ' ');
  return out;
}

std::string right(std::string_view utf8, size_t width) {
  return std::string(width - std::min(width, display_width(utf8)), ' ').append(utf8);
}

std::string wrapped(std::string_view first, std::string_view text, size_t columns) {
  const size_t indent = display_width(first);
  std::string out;
  std::string line(first);
  size_t used = indent;
  bool fresh = true;
  std::string_view rest = trim(text);
  while (!rest.empty()) {
    const std::string word = fitted(next_field(rest, ' '), 4 * columns);
    rest = trim(rest);
    if (!fresh && used + 1 + display_width(word) > columns) {
      out += line + "\n";
      line.assign(indent, ' ');
      used = indent;
      fresh = true;
    }
    line += (fresh ? "" : " ") + word;
    used += (fresh ? 0 : 1) + display_width(word);
    fresh = false;
  }
  return out + line + "\n";
}

std::vector<std::string> table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  std::vector<std::string> lines;
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += i == 0 ? left(row[i], widths[i]) : "  " + right(row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(line);
  }
  return lines;
}

}  // namespace assay::report
