// SPDX-License-Identifier: Apache-2.0
#include <assay/placement/fleet.h>
#include <gtest/gtest.h>

namespace assay::placement {
namespace {

const std::vector<predict::Device> kDevices = {
    {"raspberrypi", "u-1", "Computer", "Raspberry Pi 4", 4, 4e9, {}},
    {"desktop", "u-2", "Computer", "", 8, 0, {}},
};

TEST(FleetOf, devices_are_idle_but_for_the_loads_that_are_given) {
  const auto fleet = fleet_of(kDevices, {{"desktop", .5}});
  ASSERT_TRUE(fleet) << fleet.error().message;
  ASSERT_EQ(fleet->nodes.size(), 2U);
  EXPECT_EQ(fleet->nodes[0].load, 0);
  EXPECT_EQ(fleet->nodes[0].memory_bytes, 4e9);
  EXPECT_EQ(fleet->nodes[1].load, .5);
  EXPECT_FALSE(fleet->nodes[1].memory_bytes);
}

TEST(FleetOf, a_load_of_nobody_is_an_error) {
  EXPECT_EQ(fleet_of(kDevices, {{"desktpo", .5}}).error().message,
            "a load is given for 'desktpo', which is no known device; did you mean 'desktop'?");
}

TEST(Match, by_uuid_then_name_then_model) {
  using Found = std::vector<std::optional<size_t>>;
  EXPECT_EQ(match({{"x", "u-2"},
                   {"raspberrypi", "u-9"},
                   {"pi-7", "u-8", "", "Raspberry Pi 4"},
                   {"y", "", "", ""}},
                  kDevices),
            (Found{1, 0, 0, std::nullopt}));
}

}  // namespace
}  // namespace assay::placement
