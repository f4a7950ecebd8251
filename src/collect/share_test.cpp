// SPDX-License-Identifier: Apache-2.0
#include <assay/collect/share.h>
#include <gtest/gtest.h>

namespace assay::collect {
namespace {

TEST(Share, cores_are_listed_singly_and_in_ranges) {
  const auto own = own_cpus();
  const std::string first = std::to_string(own.front());
  EXPECT_EQ(parse_cpus(first).value(), (std::vector<int>{own.front()}));
  EXPECT_EQ(parse_cpus(first + "," + first + "-" + first).value(), (std::vector<int>{own.front()}));
}

TEST(Share, lists_that_are_none_are_refused) {
  for (const char* text : {"", ",", "x", "1-", "3-1", "0-99999999999", "1000"})
    EXPECT_FALSE(parse_cpus(text)) << text;
}

TEST(Share, has_the_cores_of_the_smaller_of_both_limits) {
  EXPECT_DOUBLE_EQ(cores_of({.cpus = {0, 1}}), 2);
  EXPECT_DOUBLE_EQ(cores_of({.cpus = {0, 1}, .quota = 0.5}), 0.5);
  EXPECT_DOUBLE_EQ(cores_of({.cpus = {0}, .quota = 3}), 1);
}

}  // namespace
}  // namespace assay::collect
