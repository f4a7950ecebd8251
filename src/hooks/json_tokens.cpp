// SPDX-License-Identifier: Apache-2.0
#include "json_tokens.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

namespace assay::hooks {
namespace {

constexpr uint32_t kReplacement = 0xFFFD;
/// What may stand behind a backslash, and what it means.
constexpr std::string_view kLetters = "\"\\/bfnrt";
constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20;
}

bool belongs_to_scalar(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
         c == '-' || c == '+';
}

/// The length of the UTF-8 sequence that begins with `lead`, and the least code point it may hold.
struct Sequence {
  size_t length;
  uint32_t least;
  uint32_t bits;
};

Sequence sequence_of(unsigned char lead) {
  if (lead < 0x80) return {1, 0, lead};
  if ((lead & 0xE0U) == 0xC0) return {2, 0x80, lead & 0x1FU};
  if ((lead & 0xF0U) == 0xE0) return {3, 0x800, lead & 0x0FU};
  if ((lead & 0xF8U) == 0xF0) return {4, 0x10000, lead & 0x07U};
  return {0, 0, 0};
}

bool is_surrogate(uint32_t code) {
  return code >= 0xD800 && code <= 0xDFFF;
}

bool is_plain_code_point(uint32_t code) {
  const bool control = code < 0x20 || (code >= 0x7F && code <= 0x9F);
  return !control && !is_surrogate(code) && code <= 0x10FFFF;
}

}  // namespace

void StringToken::begin(bool keep) {
  text_.clear();
  keep_ = keep;
  cut_ = false;
  escape_ = Escape::none;
  high_surrogate_ = 0;
}

Step StringToken::take(const char*& p, const char* stop) {
  while (p != stop) {
    if (escape_ != Escape::none) {
      if (!take_escaped(*p)) return Step::bad;
      ++p;
      continue;
    }
    const char* run = p;
    while (p != stop && *p != '"' && *p != '\\' && !is_control(*p)) ++p;
    if (p != run) append(std::string_view(run, static_cast<size_t>(p - run)));
    if (p == stop) break;
    if (is_control(*p)) return Step::bad;
    if (*p++ == '"') {
      append({});
      return Step::done;
    }
    escape_ = Escape::begun;
  }
  return Step::more;
}

bool StringToken::take_escaped(char c) {
  if (escape_ == Escape::hex) return take_hex(c);
  if (c == 'u') {
    escape_ = Escape::hex;
    hex_digits_ = 0;
    hex_ = 0;
    return true;
  }
  const size_t letter = kLetters.find(c);
  if (letter == std::string_view::npos) return false;
  append(kMeanings.substr(letter, 1));
  escape_ = Escape::none;
  return true;
}

bool StringToken::take_hex(char c) {
  uint32_t digit = 0;
  if (std::from_chars(&c, &c + 1, digit, 16).ec != std::errc()) return false;
  hex_ = hex_ * 16 + digit;
  if (++hex_digits_ == 4) end_hex();
  return true;
}

void StringToken::end_hex() {
  escape_ = Escape::none;
  const bool low = hex_ >= 0xDC00 && hex_ <= 0xDFFF;
  if (low && high_surrogate_ != 0) {
    const uint32_t code = 0x10000 + ((high_surrogate_ - 0xD800) << 10U) + (hex_ - 0xDC00);
    high_surrogate_ = 0;
    append_code_point(code);
  } else if (is_surrogate(hex_) && !low) {
    append({});
    high_surrogate_ = hex_;
  } else {
    append({});
    append_code_point(low ? kReplacement : hex_);
  }
}

void StringToken::append(std::string_view bytes) {
  if (high_surrogate_ != 0) {
    high_surrogate_ = 0;
    append_code_point(kReplacement);
  }
  if (!keep_ || cut_) return;
  cut_ = text_.size() + bytes.size() > kLimit;
  if (!cut_) text_.append(bytes);
}

void StringToken::append_code_point(uint32_t code) {
  char bytes[4];
  size_t n = 0;
  const auto tail = [&](unsigned shift) {
    bytes[n++] = static_cast<char>(0x80U | ((code >> shift) & 0x3FU));
  };
  if (code < 0x80) {
    bytes[n++] = static_cast<char>(code);
  } else if (code < 0x800) {
    bytes[n++] = static_cast<char>(0xC0U | (code >> 6U));
    tail(0);
  } else if (code < 0x10000) {
    bytes[n++] = static_cast<char>(0xE0U | (code >> 12U));
    tail(6);
    tail(0);
  } else {
    bytes[n++] = static_cast<char>(0xF0U | (code >> 18U));
    tail(12);
    tail(6);
    tail(0);
  }
  append(std::string_view(bytes, n));
}

Step ScalarToken::take(const char*& p, const char* stop) {
  const char* run = p;
  while (p != stop && belongs_to_scalar(*p)) ++p;
  const auto n = static_cast<size_t>(p - run);
  // One byte more than the limit marks a token that was cut.
  text_.append(run, std::min(n, kLimit + 1 - std::min(text_.size(), kLimit + 1)));
  return p == stop ? Step::more : Step::done;
}

ScalarToken::Kind ScalarToken::read(double& value) const {
  const std::string_view text = text_;
  if (text == "true" || text == "false" || text == "null") return Kind::word;
  if (text_.size() > kLimit) return Kind::out_of_range;
  const char* const end = text_.data() + text_.size();
  const auto [rest, error] = std::from_chars(text_.data(), end, value);
  if (rest != end || error == std::errc::invalid_argument) return Kind::bad;
  const bool usable = error == std::errc() && std::isfinite(value);
  return usable ? Kind::number : Kind::out_of_range;
}

bool is_plain_text(std::string_view text) {
  while (!text.empty()) {
    auto [length, least, code] = sequence_of(static_cast<unsigned char>(text.front()));
    if (length == 0 || length > text.size()) return false;
    for (size_t i = 1; i < length; ++i) {
      const auto byte = static_cast<unsigned char>(text[i]);
      if ((byte & 0xC0U) != 0x80) return false;
      code = (code << 6U) | (byte & 0x3FU);
    }
    if (code < least || !is_plain_code_point(code)) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace assay::hooks
