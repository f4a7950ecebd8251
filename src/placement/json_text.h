// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::placement {

/// Writes JSON without a tree of it in memory, as nlohmann's library would write that: what is no
/// UTF-8 is replaced, and a number that is none is null. Commas come by themselves.
class JsonText {
 public:
  JsonText& begin_object() { return put_as_is("{"); }
  JsonText& end_object() { return end('}'); }
  JsonText& begin_list() { return put_as_is("["); }
  JsonText& end_list() { return end(']'); }

  /// A name that needs no escapes; what follows is its value.
  JsonText& key(std::string_view name) {
    put_as_is("\"");
    text_ += name;
    text_ += "\":";
    return *this;
  }
  template <class Value>
  JsonText& field(std::string_view name, const Value& value) {
    return key(name).put(value);
  }

  JsonText& put(std::string_view text);
  JsonText& put(double number);
  JsonText& put(size_t number);
  JsonText& put(std::same_as<bool> auto value) { return put_as_is(value ? "true" : "false"); }
  JsonText& put(const std::vector<std::string>& texts);
  template <class Value>
  JsonText& put(const std::optional<Value>& value) {
    return value ? put(*value) : put_null();
  }
  JsonText& put_null() { return put_as_is("null"); }

  std::string take() { return std::move(text_); }

 private:
  /// Behind another value comes a comma first.
  JsonText& put_as_is(std::string_view text) {
    const char last = text_.empty() ? '[' : text_.back();
    if (last != '{' && last != '[' && last != ':') text_ += ',';
    text_ += text;
    return *this;
  }
  JsonText& end(char bracket) {
    text_ += bracket;
    return *this;
  }

  std::string text_;
};

}  // namespace assay::placement
