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

using Found = std::vector<std::optional<size_t>>;

TEST(Match, by_name_then_uuid_then_model) {
  EXPECT_EQ(match({{"x", "u-2"},
                   {"raspberrypi", "u-9"},
                   {"pi-7", "u-8", "", "Raspberry Pi 4"},
                   {"y", "", "", ""}},
                  kDevices),
            (Found{1, 0, 0, std::nullopt}));
}

// Parts of one machine that stand for devices have its uuid all of them.
TEST(Match, devices_of_one_uuid_are_told_apart_by_name) {
  const std::vector<predict::Device> shares = {
      {"fast", "u-1", "VM", "", 2, 4e9, {}},
      {"slow", "u-1", "VM", "", 1, 4e9, {}},
  };
  const auto fleet = fleet_of(shares, {});
  ASSERT_TRUE(fleet) << fleet.error().message;
  EXPECT_EQ(match(fleet->nodes, shares), (Found{0, 1}));
  EXPECT_EQ(match({fleet->nodes[1]}, shares), (Found{1}));
  EXPECT_EQ(match({{"whole", "u-1"}}, shares), (Found{std::nullopt}));
}

TEST(Match, a_cloned_card_in_another_board_is_another_device) {
  EXPECT_EQ(match({{"pi-8", "u-1", "", "Raspberry Pi 3"}, {"pi-9", "u-1", "", "Raspberry Pi 4"}},
                  kDevices),
            (Found{std::nullopt, 0}));
}

TEST(Match, devices_of_one_model_are_told_apart_by_their_cores) {
  const std::vector<predict::Device> machines = {
      {"large", "u-1", "VM", "Standard PC", 64, 0, {}},
      {"small", "u-2", "VM", "Standard PC", 2, 0, {}},
      {"unknown", "u-3", "VM", "Board", 0, 0, {}},
  };
  const auto like = [](const std::string& model, std::optional<double> cores) {
    return Node{.name = "x", .model = model, .cores = cores};
  };
  EXPECT_EQ(match({like("Standard PC", 2), like("Standard PC", 8), like("Standard PC", {}),
                   like("Board", 4)},
                  machines),
            (Found{1, std::nullopt, 0, 2}));
  const Node part{.name = "y", .uuid = "u-1", .cores = 32};
  EXPECT_EQ(match({part}, machines), (Found{std::nullopt}));
}

TEST(AddDoubt, where_a_node_is_told_by_another_device) {
  std::string doubt = "far";
  add_doubt(doubt, {.name = "pi-7", .uuid = "u-7"}, kDevices[0]);
  EXPECT_EQ(doubt, "far; pi-7 is told by raspberrypi, of the same model");
  doubt.clear();
  add_doubt(doubt, {.name = "renamed", .uuid = "u-1"}, kDevices[0]);
  add_doubt(doubt, {.name = "raspberrypi", .uuid = "u-7"}, kDevices[0]);
  EXPECT_EQ(doubt, "");
}

}  // namespace
}  // namespace assay::placement
