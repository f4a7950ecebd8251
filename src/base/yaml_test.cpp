// SPDX-License-Identifier: Apache-2.0
#include <assay/base/yaml.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

constexpr YamlUse kRecipe = {
    .what = "a recipe", .least = "write at least a title", .example = "title: soup"};

/// The first thing that is wrong with a text.
std::string error_of(const std::string& text) {
  Problems problems("r.yaml");
  EXPECT_FALSE(load_map(text, kRecipe, problems));
  const auto errors = problems.take();
  return errors.empty() ? "" : errors[0].text();
}

TEST(Yaml, messages_say_what_the_file_is_meant_to_be) {
  EXPECT_EQ(error_of(""), "r.yaml: is empty; write at least a title");
  EXPECT_EQ(error_of("soup\n"),
            "r.yaml:1: holds text; write keys with values, as in \"title: soup\"");
  EXPECT_EQ(error_of(std::string(300'000, '#')),
            "r.yaml: is larger than 256 KiB; is this a recipe?");
  EXPECT_NE(error_of(std::string(50'000, '[')).find("nested too deep to be a recipe"),
            std::string::npos);
}

TEST(Yaml, values_are_read_by_kind_and_problems_have_lines) {
  Problems problems("r.yaml");
  const auto root = load_map("title: soup\nhot: true\ntime: 90s\nlate: soon\n", kRecipe, problems);
  ASSERT_TRUE(root);
  const auto fields = fields_of(*root, problems);
  ASSERT_EQ(fields.size(), 4U);
  EXPECT_EQ(read_text(fields[0], problems), "soup");
  EXPECT_EQ(read_yes_no(fields[1], problems), true);
  EXPECT_EQ(read_duration(fields[2], problems), std::chrono::seconds(90));
  EXPECT_TRUE(problems.empty());
  EXPECT_EQ(read_duration(fields[3], problems), std::nullopt);
  EXPECT_EQ(problems.take()[0].text(),
            "r.yaml:4: late: 'soon' is not a duration; write for example 500ms, 90s or 2m");
}

}  // namespace
}  // namespace assay
