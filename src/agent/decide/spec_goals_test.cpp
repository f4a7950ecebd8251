// SPDX-License-Identifier: Apache-2.0
#include "decide/spec_goals.h"

#include <gtest/gtest.h>

namespace assay::agent {
namespace {

constexpr const char* kSpec = R"(name: objcounter
namespace: waggle
version: "0.1.0"
command: [run]
profiling:
  targets: [{args: "-x"}]
  goals: [fps >= 10, latency.p95 <= 200ms]
)";

SpecGoals parsed(const std::string& text) {
  Problems problems("sage.yaml");
  auto spec = parse_spec_goals(text, problems);
  EXPECT_TRUE(problems.empty()) << problems.take().front().text();
  return spec;
}

TEST(SpecGoals, are_those_of_the_profiling_section) {
  const SpecGoals spec = parsed(kSpec);
  ASSERT_EQ(spec.goals.size(), 2U);
  EXPECT_EQ(spec.goals[1].metric, "latency");
  EXPECT_EQ(parsed("name: x\nprofiling: {goals: {fps: '>= 10'}}\n").goals.size(), 1U);
}

TEST(SpecGoals, belong_to_the_image_that_the_spec_names) {
  const SpecGoals spec = parsed(kSpec);
  EXPECT_TRUE(spec.is_of("waggle/objcounter:0.1.0"));
  EXPECT_TRUE(spec.is_of("registry.local:5000/waggle/objcounter:0.1.0"));
  EXPECT_FALSE(spec.is_of("waggle/objcounter:0.2.0"));
  EXPECT_FALSE(spec.is_of("waggle/objcounter"));
  EXPECT_FALSE(spec.is_of("notwaggle/objcounter:0.1.0"));
  EXPECT_FALSE(spec.is_of(""));
}

TEST(SpecGoals, that_cannot_be_read_are_told_with_their_line) {
  Problems problems("sage.yaml");
  const auto spec = parse_spec_goals("name: x\nprofiling:\n  goals: [quick]\n", problems);
  EXPECT_TRUE(spec.goals.empty());
  const auto errors = problems.take();
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors[0].line, 3);
}

TEST(SpecGoals, of_a_folder_that_is_not_there_are_an_error) {
  EXPECT_EQ(read_specs("/nosuch/folder").errors.size(), 1U);
}

TEST(SpecGoals, of_a_folder_are_found) {
  const auto found = read_specs(std::string(ASSAY_SOURCE_DIR) + "/examples");
  EXPECT_TRUE(found.errors.empty()) << found.errors.front().text();
}

}  // namespace
}  // namespace assay::agent
