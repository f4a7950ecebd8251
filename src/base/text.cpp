// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <fmt/format.h>

#include <assay/base/letters.h>
#include <assay/base/text.h>

namespace assay {
namespace {

constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Reads words one character at a time; the state that POSIX quoting needs.
class WordReader {
 public:
  explicit WordReader(std::string_view text) : text_(text) {}

  Result<std::vector<std::string>> read() {
    while (pos_ < text_.size()) {
      const char c = text_[pos_++];
      if (c == '\'' || c == '"') {
        if (!quoted(c)) return bad_input(fmt::format("unclosed {} in: {}", c, text_));
      } else if (c == '\\') {
        if (pos_ == text_.size()) return bad_input(fmt::format("lone \\ at the end of: {}", text_));
        append(text_[pos_++]);
      } else if (c == ' ' || c == '\t' || c == '\n') {
        end_word();
      } else {
        append(c);
      }
    }
    end_word();
    return std::move(words_);
  }

 private:
  bool quoted(char quote) {
    in_word_ = true;
    while (pos_ < text_.size()) {
      char c = text_[pos_++];
      if (c == quote) return true;
      const bool escape = quote == '"' && c == '\\' && pos_ < text_.size() &&
                          std::string_view("\"\\$`\n").find(text_[pos_]) != std::string_view::npos;
      if (escape) c = text_[pos_++];
      if (!(escape && c == '\n')) append(c);
    }
    return false;
  }
  void append(char c) {
    in_word_ = true;
    word_ += c;
  }
  void end_word() {
    if (in_word_) words_.push_back(std::move(word_));
    word_.clear();
    in_word_ = false;
  }

  std::string_view text_;
  size_t pos_ = 0;
  bool in_word_ = false;
  std::string word_;
  std::vector<std::string> words_;
};

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

template <class T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// What "MB", "MiB" or "m" multiplies by; 0 when it is none of ours.
double byte_scale(std::string_view unit) {
  const std::string lower = lower_case(unit);
  if (lower.empty() || lower == "b") return 1;
  const size_t power = std::string_view("kmgt").find(lower[0]) + 1;
  if (power == 0) return 0;
  const std::string_view rest = std::string_view(lower).substr(1);
  if (rest == "b") return std::pow(1000.0, static_cast<double>(power));
  if (rest.empty() || rest == "i" || rest == "ib")
    return std::pow(1024.0, static_cast<double>(power));
  return 0;
}

/// What "kbit" or "Mbit/s" multiplies by; 0 when it is none of ours.
double bit_scale(std::string_view written) {
  std::string unit = lower_case(written);
  if (unit.ends_with("/s")) unit.resize(unit.size() - 2);
  constexpr std::array<std::string_view, 5> kUnits = {"bit", "kbit", "mbit", "gbit", "tbit"};
  const auto* const found = std::find(kUnits.begin(), kUnits.end(), unit);
  return found == kUnits.end() ? 0 : std::pow(1000.0, found - kUnits.begin());
}

}  // namespace

Result<std::vector<std::string>> split_words(std::string_view text) {
  return WordReader(text).read();
}

std::string join_words(std::span<const std::string> words) {
  std::string line;
  for (const auto& word : words) {
    if (!line.empty()) line += ' ';
    const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
      return std::isalnum(c) != 0 ||
             std::string_view("_-./:=,@%+").find(static_cast<char>(c)) != std::string_view::npos;
    });
    if (plain) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word) {
      if (c == '\'') {
        line += "'\\''";
      } else {
        line += c;
      }
    }
    line += '\'';
  }
  return line;
}

std::optional<std::string_view> nearest(std::string_view word,
                                        std::span<const std::string_view> candidates) {
  std::optional<std::string_view> best;
  size_t best_distance = std::max<size_t>(1, word.size() / 2);
  for (const auto candidate : candidates) {
    const size_t distance = edit_distance(word, candidate);
    if (distance < best_distance || (distance == best_distance && !best)) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::optional<int64_t> parse_int(std::string_view text) {
  return parse_number<int64_t>(text);
}
std::optional<uint64_t> parse_uint(std::string_view text) {
  return parse_number<uint64_t>(text);
}

std::optional<double> parse_double(std::string_view text) {
  const auto value = parse_number<double>(text);
  if (!value || !std::isfinite(*value)) return std::nullopt;
  return value;
}

Result<uint64_t> parse_bytes(const std::string& text) {
  std::string_view rest = trim(text);
  const size_t digits = rest.find_first_not_of("0123456789.");
  const auto number = parse_double(rest.substr(0, digits));
  const std::string_view unit = digits == rest.npos ? "" : trim(rest.substr(digits));
  const double scale = byte_scale(unit);
  if (!number || scale == 0 || *number * scale >= 9e18) {
    return bad_input(fmt::format("'{}' is not a size; write for example 512MB or 2GiB", text));
  }
  return static_cast<uint64_t>(*number * scale);
}

Result<double> parse_bit_rate(const std::string& text) {
  const std::string_view all = trim(text);
  const size_t digits = all.find_first_not_of("0123456789.");
  const auto number = parse_double(all.substr(0, digits));
  const std::string unit(digits == all.npos ? "" : trim(all.substr(digits)));
  if (number && unit.ends_with("bps")) {
    return bad_input(
        fmt::format("'{}' means bytes to some tools and bits to others; write for "
                    "example 500kbit or 2mbit",
                    text));
  }
  const double scale = bit_scale(unit);
  if (!number || scale == 0 || *number <= 0)
    return bad_input(
        fmt::format("'{}' is not a bit rate; write for example 500kbit or 2mbit", text));
  return *number * scale;
}

std::string format_bytes(double bytes) {
  constexpr std::array<std::string_view, 6> kUnits = {"B", "kB", "MB", "GB", "TB", "PB"};
  size_t unit = 0;
  while (std::abs(bytes) >= 999.5 && unit + 1 < kUnits.size()) {
    bytes /= 1000;
    ++unit;
  }
  return fmt::format("{} {}", format_number(bytes), kUnits[unit]);
}

std::string format_number(double value, int decimals) {
  constexpr int kMostDigits = 12;  // what computing leaves behind them is no number of anybody's
  const double size = std::abs(value);
  if (size == 0) return "0";
  if (size < 1e-4 || size >= 1e15) return fmt::format("{:.3g}", value);
  const int before_point = static_cast<int>(std::floor(std::log10(size))) + 1;
  const int shown = std::max(3 - before_point, std::min(decimals, kMostDigits - before_point));
  std::string text = fmt::format("{:.{}f}", value, std::max(0, shown));
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  for (auto i = static_cast<ptrdiff_t>(text.find('.') == std::string::npos ? text.size()
                                                                           : text.find('.')) -
                3;
       i > (value < 0 ? 1 : 0); i -= 3) {
    text.insert(static_cast<size_t>(i), 1, ' ');
  }
  return text;
}

std::string base64_encoded(std::string_view bytes) {
  std::string text;
  for (size_t at = 0; at < bytes.size(); at += 3) {
    const std::string_view three = bytes.substr(at, 3);
    uint32_t bits = 0;
    for (size_t i = 0; i < 3; ++i)
      bits = bits << 8U | (i < three.size() ? static_cast<unsigned char>(three[i]) : 0U);
    for (size_t i = 0; i < 4; ++i)
      text += i <= three.size() ? kBase64[bits >> (18 - 6 * i) & 63U] : '=';
  }
  return text;
}

std::optional<std::string> base64_decoded(std::string_view text) {
  std::string bytes;
  uint32_t bits = 0;
  size_t digits = 0;
  size_t padding = 0;
  for (const char c : text) {
    if (c == ' ' || c == '\n' || c == '\r' || c == '\t') continue;
    const size_t digit = kBase64.find(c);
    padding += c == '=' ? 1 : 0;
    if ((c == '=') != (padding > 0) || (c != '=' && digit == kBase64.npos)) return std::nullopt;
    bits = bits << 6U | (c == '=' ? 0U : static_cast<uint32_t>(digit));
    if (++digits % 4 != 0) continue;
    for (const unsigned shift : {16U, 8U, 0U}) bytes += static_cast<char>(bits >> shift & 255U);
  }
  if (digits % 4 != 0 || padding > 2) return std::nullopt;
  bytes.resize(bytes.size() - padding);
  return bytes;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t first = text.find_first_not_of(kSpace);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::string_view next_field(std::string_view& text, char separator) {
  const size_t end = text.find(separator);
  const std::string_view field = text.substr(0, end);
  text = end == text.npos ? std::string_view() : text.substr(end + 1);
  return field;
}

}  // namespace assay
