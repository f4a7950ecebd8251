// SPDX-License-Identifier: Apache-2.0
#include "number_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string_view>

namespace assay::promapi {
namespace {

// Beyond it not every whole number is a double.
constexpr double kExact = 9007199254740992.0;

char* write_text(char* at, std::string_view text) {
  return std::copy(text.begin(), text.end(), at);
}

char* write_special(char* at, double value) {
  if (std::isnan(value)) return write_text(at, "NaN");
  return write_text(at, value > 0 ? "+Inf" : "-Inf");
}

}  // namespace

char* write_integer(char* at, int64_t value) {
  return std::to_chars(at, at + kNumberRoom, value).ptr;
}

char* write_value(char* at, double value) {
  if (std::abs(value) < kExact) {
    const auto whole = static_cast<int64_t>(value);
    if (static_cast<double>(whole) == value) return write_integer(at, whole);
  }
  if (!std::isfinite(value)) return write_special(at, value);
  return std::to_chars(at, at + kNumberRoom, value).ptr;
}

char* write_bound(char* at, double bound) {
  if (!std::isfinite(bound)) return write_special(at, bound);
  const double size = std::abs(bound);
  if (size >= 1e6 || (size < 1e-4 && size > 0))
    return std::to_chars(at, at + kNumberRoom, bound, std::chars_format::scientific).ptr;
  char* const end = std::to_chars(at, at + kNumberRoom, bound, std::chars_format::fixed).ptr;
  return std::find(at, end, '.') == end ? write_text(end, ".0") : end;
}

char* write_seconds(char* at, int64_t milliseconds) {
  if (milliseconds < 0) *at++ = '-';
  const int64_t size = std::abs(milliseconds);
  at = write_integer(at, size / 1000);
  const auto rest = static_cast<int>(size % 1000);
  *at++ = '.';
  *at++ = static_cast<char>('0' + rest / 100);
  *at++ = static_cast<char>('0' + rest / 10 % 10);
  *at++ = static_cast<char>('0' + rest % 10);
  return at;
}

}  // namespace assay::promapi
