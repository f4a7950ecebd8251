// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::cli {

/// What a piece of text is to the eye; colours are left out where they are not wanted.
enum class Ink : uint8_t {
  plain,
  dim,
  bold,
  good,    ///< green
  bad,     ///< red
  accent,  ///< what moves: bars and sparklines
  bar,     ///< the head of the table, and labels of keys
  chosen,  ///< the row that the keys act on
};

struct Span {
  std::string text;  ///< safe to show
  Ink ink = Ink::plain;
};
using Line = std::vector<Span>;
using Lines = std::vector<Line>;

struct ScreenSize {
  size_t columns = 80;
  size_t rows = 24;

  bool operator==(const ScreenSize&) const = default;
};

/// The line's text without any ink.
std::string plain_text(const Line& line);
size_t line_columns(const Line& line);
/// All of it in one ink.
Line in_ink(const Line& line, Ink ink);
/// Exactly `columns` wide, the rest filled in the ink of its last span.
Line fitted_line(const Line& line, size_t columns);

/// Turns frames into what a terminal is sent: only the rows that are not yet on its screen.
class FrameWriter {
 public:
  explicit FrameWriter(bool color) : color_(color) {}

  std::string draw(const Lines& frame, ScreenSize size);
  /// The screen shows something else now: all is drawn again.
  void forget() { shown_.clear(); }

 private:
  bool color_;
  ScreenSize size_ = {0, 0};
  std::vector<std::string> shown_;
};

}  // namespace assay::cli
