// SPDX-License-Identifier: Apache-2.0
#include "json_text.h"

#include <array>
#include <cmath>
#include <fmt/compile.h>
#include <nlohmann/json.hpp>

namespace assay::placement {
namespace {

/// Whether it needs no escapes. All of it is looked at, so that many characters are at once.
bool is_plain(std::string_view text) {
  bool plain = true;
  for (const char c : text) plain &= c >= ' ' && c < '\x7f' && c != '"' && c != '\\';
  return plain;
}

}  // namespace

JsonText& JsonText::put(std::string_view text) {
  if (!is_plain(text))
    return put_as_is(
        nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  put_as_is("\"");
  text_ += text;
  text_ += '"';
  return *this;
}

JsonText& JsonText::put(double number) {
  if (!std::isfinite(number)) return put_null();
  std::array<char, 32> room{};
  const std::string_view text(room.data(), fmt::format_to(room.data(), FMT_COMPILE("{}"), number));
  put_as_is(text);
  if (text.find_first_of(".e") == text.npos) text_ += ".0";
  return *this;
}

JsonText& JsonText::put(size_t number) {
  const fmt::format_int digits(number);
  return put_as_is({digits.data(), digits.size()});
}

JsonText& JsonText::put(const std::vector<std::string>& texts) {
  begin_list();
  for (const auto& text : texts) put(text);
  return end_list();
}

}  // namespace assay::placement
