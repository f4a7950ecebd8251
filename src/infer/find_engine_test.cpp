// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <assay/infer/find_engine.h>
#include <gtest/gtest.h>

namespace assay::infer {
namespace {

TEST(FindEngine, any_other_than_ours_is_a_command_line) {
  const auto words = engine_command("sh -c 'run it'");
  ASSERT_TRUE(words) << words.error().message;
  EXPECT_EQ(*words, (std::vector<std::string>{"sh", "-c", "run it"}));
}

TEST(FindEngine, the_scripts_are_found_where_they_are_built_from) {
  const auto words = engine_command("onnxruntime");
  ASSERT_TRUE(words) << words.error().message;
  ASSERT_EQ(words->size(), 2U);
  EXPECT_EQ(words->back(), ASSAY_SOURCE_DIR "/runners/onnxruntime_python.py");
}

TEST(FindEngine, what_is_nowhere_is_met_with_those_there_are) {
  const auto words = engine_command("tensorflow");
  ASSERT_FALSE(words);
  EXPECT_EQ(words.error().message,
            "there is no engine and no program 'tensorflow'; Assay knows opencv, onnxruntime-node "
            "and onnxruntime");
  EXPECT_FALSE(engine_command(" "));
}

}  // namespace
}  // namespace assay::infer
