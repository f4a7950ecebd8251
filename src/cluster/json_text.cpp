// SPDX-License-Identifier: Apache-2.0
#include "json_text.h"

namespace assay::cluster {
namespace {

using Json = nlohmann::ordered_json;

void write(const Json& json, std::string& text) {
  if (!json.is_structured()) {
    text += json.dump(-1, ' ', false, Json::error_handler_t::replace);
    return;
  }
  text += json.is_object() ? '{' : '[';
  bool first = true;
  for (const auto& [key, value] : json.items()) {
    if (!first) text += ", ";
    first = false;
    if (json.is_object())
      text += Json(key).dump(-1, ' ', false, Json::error_handler_t::replace) + ": ";
    write(value, text);
  }
  text += json.is_object() ? '}' : ']';
}

}  // namespace

std::string spaced(const Json& json) {
  std::string text;
  write(json, text);
  return text;
}

}  // namespace assay::cluster
