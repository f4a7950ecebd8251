// SPDX-License-Identifier: Apache-2.0
#include "old_call.h"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

namespace assay::serve {
namespace {

using nlohmann::json;

json example() {
  return {{"model", "resnet"},          {"conv_layers", 53},
          {"pool_layers", 2},           {"fc_layers", 1},
          {"filter_details", 26560},    {"total_parameters", 25557032},
          {"model_input_size", 602112}, {"model_output_size", 4000}};
}

std::string problem(const json& changed) {
  const auto call = parse_old_call(changed.dump());
  return call ? "fine" : call.error().message;
}

TEST(OldCall, has_the_counts) {
  const auto call = parse_old_call(example().dump());
  ASSERT_TRUE(call) << call.error().message;
  EXPECT_EQ(call->model, "resnet");
  EXPECT_EQ(call->counts.conv_layers, 53U);
  EXPECT_EQ(call->counts.total_parameters, 25557032);
  EXPECT_EQ(call->counts.model_output_size, 4000);
}

TEST(OldCall, numbers_may_be_larger_than_any_machine_word) {
  std::string text = example().dump();
  const auto at = text.find("25557032");
  text.replace(at, 8, "100000000000000000000000");
  const auto call = parse_old_call(text);
  ASSERT_TRUE(call) << call.error().message;
  EXPECT_EQ(call->counts.total_parameters, 1e23);
}

TEST(OldCall, each_wrong_field_is_named) {
  const json whole = example();
  for (const auto& [field, value] : whole.items()) {
    json missing = example();
    missing.erase(field);
    EXPECT_EQ(problem(missing), "the field '" + field + "' is missing");
    if (field == "model") continue;
    json negative = example();
    negative[field] = -1;
    EXPECT_EQ(problem(negative), "the field '" + field + "' must be a number of at least 0");
    json text = example();
    text[field] = "12";
    EXPECT_EQ(problem(text), "the field '" + field + "' must be a number, not text");
  }
  json number = example();
  number["model"] = 1;
  EXPECT_EQ(problem(number), "the field 'model' must be a short text");
  EXPECT_EQ(problem(json::array()), "the body must be an object with a model's counts");
  EXPECT_EQ(parse_old_call("{").error().message, "the body is no JSON");
  EXPECT_EQ(parse_old_call("").error().message, "the body is no JSON");
}

}  // namespace
}  // namespace assay::serve
