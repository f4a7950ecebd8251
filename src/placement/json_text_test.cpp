// SPDX-License-Identifier: Apache-2.0
#include "json_text.h"

#include <limits>
#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

namespace assay::placement {
namespace {

using nlohmann::json;

/// What nlohmann's library writes.
std::string usual(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

TEST(JsonText, numbers_are_as_nlohmanns_library_writes_them) {
  using Limits = std::numeric_limits<double>;
  for (const double number : {0.0, -0.0, 1.0, -2.5, 0.1, 1.0 / 3, 1e-4, 1e-5, 12345678.0, 602112.5,
                              4294967296.0, 1e21, Limits::max(), Limits::min(),
                              Limits::denorm_min(), Limits::infinity(), Limits::quiet_NaN()})
    EXPECT_EQ(JsonText().put(number).take(), usual(number));
  EXPECT_EQ(JsonText().put(size_t{12}).take(), "12");
}

TEST(JsonText, texts_are_as_nlohmanns_library_writes_them) {
  for (const char* text : {"", "pi-1", "a \"b\" \\ c", "line\nnext\t\x01", "12 µs", "\x7f",
                           "no \xff UTF-8 \xc3", "\xe2\x82"})
    EXPECT_EQ(JsonText().put(text).take(), usual(text));
}

TEST(JsonText, objects_and_lists_have_their_commas) {
  JsonText text;
  text.begin_object().field("a", true).field("b", std::optional<double>());
  text.key("list").begin_list().begin_object().end_object().put("x:").put(1.0).end_list();
  text.field("c", std::optional(false)).field("d", std::vector<std::string>{"{", "["});
  text.end_object();
  EXPECT_EQ(text.take(), R"({"a":true,"b":null,"list":[{},"x:",1.0],"c":false,"d":["{","["]})");
}

}  // namespace
}  // namespace assay::placement
