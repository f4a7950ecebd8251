// SPDX-License-Identifier: Apache-2.0
#include "playback/data_config.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>

namespace assay::launch {
namespace {

bool is_alphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::string escaped(std::string_view id) {
  constexpr std::string_view kSpecial = R"(\.^$*+?{}[]|())";
  std::string pattern;
  for (const char c : id) {
    if (kSpecial.find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  return pattern;
}

std::string pattern_of(const std::string& id, std::span<const Stream> streams) {
  const bool another_begins_so =
      std::any_of(streams.begin(), streams.end(),
                  [&](const Stream& other) { return other.id != id && other.id.starts_with(id); });
  return escaped(id) + (another_begins_so ? "$" : "");
}

}  // namespace

Json data_config_of(std::span<const Stream> streams,
                    const std::function<std::string(const std::string&)>& url) {
  Json list = Json::array();
  for (const Stream& stream : streams) {
    list.push_back(
        {{"match", {{"id", pattern_of(stream.id, streams)}}},
         {"handler", {{"type", to_string(stream.kind)}, {"args", {{"url", url(stream.id)}}}}}});
  }
  return list;
}

Result<void> check_ids(std::span<const Stream> streams) {
  std::set<std::string_view> ids;
  for (const Stream& stream : streams) {
    if (!ids.insert(stream.id).second) {
      return bad_input(fmt::format(
          "two streams of the playback have the id '{}'; an app could not tell them apart",
          stream.id));
    }
  }
  return {};
}

std::string url_encoded(std::string_view id) {
  std::string text;
  for (const char c : id) {
    if (is_alphanumeric(c) || c == '-' || c == '_' || c == '.' || c == '~') {
      text += c;
    } else {
      text += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return text;
}

std::string url_decoded(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned char byte = 0;
    const char* const digits = text.data() + i + 1;
    const bool is_code = text[i] == '%' && i + 2 < text.size() &&
                         std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2;
    plain += is_code ? static_cast<char>(byte) : text[i];
    if (is_code) i += 2;
  }
  return plain;
}

}  // namespace assay::launch
