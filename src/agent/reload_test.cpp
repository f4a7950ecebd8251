// SPDX-License-Identifier: Apache-2.0
#include "reload.h"

#include <gtest/gtest.h>

namespace assay::agent {
namespace {

TEST(KeepFixed, names_and_keeps_what_needs_a_restart) {
  const Settings present;
  Settings fresh;
  fresh.listen = ":1";
  fresh.services = false;
  fresh.remote_write.url = "http://there";
  fresh.interval = Milliseconds(200);
  fresh.location.city = "Chicago";
  EXPECT_EQ(keep_fixed(present, fresh),
            (std::vector<std::string_view>{"listen", "families.services", "remote_write"}));
  EXPECT_EQ(fresh.listen, present.listen);
  EXPECT_TRUE(fresh.services);
  EXPECT_EQ(fresh.remote_write, present.remote_write);
  EXPECT_EQ(fresh.interval, Milliseconds(200)) << "this can change";
  EXPECT_EQ(fresh.location.city, "Chicago");
}

TEST(KeepFixed, says_nothing_when_all_can_change) {
  Settings fresh;
  fresh.own_share = 0.5;
  EXPECT_TRUE(keep_fixed(Settings(), fresh).empty());
}

}  // namespace
}  // namespace assay::agent
