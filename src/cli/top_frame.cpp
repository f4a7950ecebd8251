// SPDX-License-Identifier: Apache-2.0
#include "top_frame.h"

#include "top_text.h"

#include <array>
#include <fmt/format.h>

namespace assay::cli {
namespace {

struct Code {
  std::string_view color;
  std::string_view plain;  ///< where colours are not wanted
};

Code code_of(Ink ink) {
  constexpr std::array<Code, 8> kCodes = {Code{"", ""},
                                          Code{"\033[2m", "\033[2m"},
                                          Code{"\033[1m", "\033[1m"},
                                          Code{"\033[32m", ""},
                                          Code{"\033[31m", "\033[1m"},
                                          Code{"\033[36m", ""},
                                          Code{"\033[30;46m", "\033[7m"},
                                          Code{"\033[7m", "\033[7m"}};
  return kCodes[static_cast<size_t>(ink)];
}

std::string written(const Line& line, bool color) {
  std::string out;
  for (const auto& span : line) {
    const Code code = code_of(span.ink);
    const std::string_view begin = color ? code.color : code.plain;
    out += begin;
    out += span.text;
    if (!begin.empty()) out += "\033[0m";
  }
  return out;
}

}  // namespace

std::string plain_text(const Line& line) {
  std::string text;
  for (const auto& span : line) text += span.text;
  return text;
}

size_t line_columns(const Line& line) {
  size_t columns = 0;
  for (const auto& span : line) columns += text_columns(span.text);
  return columns;
}

Line in_ink(const Line& line, Ink ink) {
  return {{plain_text(line), ink}};
}

Line fitted_line(const Line& line, size_t columns) {
  Line fitted;
  size_t left = columns;
  for (const auto& span : line) {
    const std::string_view kept = text_beginning(span.text, left);
    left -= text_columns(kept);
    fitted.push_back({std::string(kept), span.ink});
    if (kept.size() < span.text.size()) break;
  }
  if (left > 0)
    fitted.push_back({std::string(left, ' '), fitted.empty() ? Ink::plain : fitted.back().ink});
  return fitted;
}

std::string FrameWriter::draw(const Lines& frame, ScreenSize size) {
  std::string out;
  if (size != size_ || shown_.empty()) {
    out = "\033[0m\033[2J";
    shown_.assign(size.rows, "");
    size_ = size;
  }
  for (size_t row = 0; row < size.rows; ++row) {
    const std::string line =
        row < frame.size() ? written(fitted_line(frame[row], size.columns), color_) : "";
    if (line == shown_[row]) continue;
    // A line fills its row; only rows without one have to be cleared.
    out += fmt::format("\033[{};1H{}{}", row + 1, line.empty() ? "\033[2K" : "", line);
    shown_[row] = line;
  }
  return out;
}

}  // namespace assay::cli
