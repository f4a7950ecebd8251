// SPDX-License-Identifier: Apache-2.0
#include "playback/natural_order.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace assay::launch {
namespace {

TEST(NaturalOrder, is_that_of_a_person) {
  const std::vector<std::string> sorted = {
      "",
      "cam/2/frame1.jpg",
      "cam/2/frame2.jpg",
      "cam/2/frame10.jpg",
      "cam/10/a",
      "frame",
      "frame01.jpg",
      "frame1.jpg",
      "frame2-1",
      "frame2-02",
      "frame2-2",
      "frame18446744073709551616.jpg",
      "framework",
  };
  std::vector<std::string> names = sorted;
  std::reverse(names.begin(), names.end());
  std::sort(names.begin(), names.end(), natural_less);
  EXPECT_EQ(names, sorted);
}

TEST(NaturalOrder, is_not_less_than_itself) {
  for (const char* name : {"", "a1", "a01", "007"}) EXPECT_FALSE(natural_less(name, name)) << name;
}

}  // namespace
}  // namespace assay::launch
