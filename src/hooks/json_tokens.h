// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace assay::hooks {

/// What a token made of the bytes it was given.
enum class Step : uint8_t {
  more,  ///< took all, and wants more
  done,  ///< complete
  bad,   ///< these bytes cannot belong to it
};

/// A JSON string that arrives in pieces, decoded to UTF-8. Keeps at most `kLimit` bytes of it.
class StringToken {
 public:
  static constexpr size_t kLimit = 128;

  /// Behind the opening quote; without `keep` the text is checked and thrown away.
  void begin(bool keep);
  /// Takes bytes from `p` up to and including the closing quote; `p` moves behind what was taken.
  Step take(const char*& p, const char* stop);
  std::string_view text() const { return text_; }
  /// The text was longer than the limit.
  bool cut() const { return cut_; }

 private:
  enum class Escape : uint8_t { none, begun, hex };
  bool take_escaped(char c);
  bool take_hex(char c);
  void end_hex();
  void append(std::string_view bytes);
  void append_code_point(uint32_t code);

  std::string text_;
  bool keep_ = false;
  bool cut_ = false;
  Escape escape_ = Escape::none;
  int hex_digits_ = 0;
  uint32_t hex_ = 0;
  uint32_t high_surrogate_ = 0;
};

/// A number or one of JSON's words (and NaN, Infinity, as Python writes them), in pieces.
class ScalarToken {
 public:
  static constexpr size_t kLimit = 512;
  enum class Kind : uint8_t { number, out_of_range, word, bad };

  void begin() { text_.clear(); }
  /// Takes bytes while they belong to it; `done` leaves `p` on the first that does not.
  Step take(const char*& p, const char* stop);
  /// What it is; `value` is set when it is a number.
  Kind read(double& value) const;

 private:
  std::string text_;
};

/// Printable UTF-8 without control characters.
bool is_plain_text(std::string_view text);

}  // namespace assay::hooks
