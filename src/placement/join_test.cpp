// SPDX-License-Identifier: Apache-2.0
#include <assay/placement/live.h>
#include <gtest/gtest.h>

namespace assay::placement {
namespace {

using promapi::InstantValue;

/// Nodes of which each has an identity from one exporter and a load from another.
class Live {
 public:
  Live& identity(const std::string& name, const std::string& uuid, const std::string& instance,
                 double age = 5) {
    std::map<std::string, std::string> labels = {{"char_node_name", name},
                                                 {"char_node_uuid", uuid},
                                                 {"char_node_class", "Computer"},
                                                 {"char_node_device_model_name", "Board"},
                                                 {"instance", instance}};
    series.identity_ages.push_back({labels, age});
    labels["__name__"] = "char_node_device_model";
    series.identities.push_back({labels, 1});
    return *this;
  }
  Live& load(const std::string& instance, double busy, double age = 5) {
    series.busy.push_back({{{"instance", instance}}, busy});
    series.busy_ages.push_back({{{"instance", instance}}, age});
    return *this;
  }
  Live& uname(const std::string& instance, const std::string& name) {
    series.unames.push_back({{{"instance", instance}, {"nodename", name}}, 1});
    return *this;
  }
  Fleet joined(const JoinRules& rules = {}) const { return join(series, rules); }
  /// Why the only node is left out.
  std::string reason(const JoinRules& rules = {}) const {
    const auto fleet = joined(rules);
    if (fleet.nodes.empty() && fleet.left_out.size() == 1) return fleet.left_out[0].reason;
    return "not left out";
  }

  LiveSeries series;
};

TEST(Join, by_the_name_that_a_node_has_for_itself_and_not_by_order) {
  const auto fleet = Live()
                         .identity("a", "u-a", "10.0.0.1:5001")
                         .identity("b", "u-b", "10.0.0.2:5001")
                         .load("10.0.0.2:9100", .7)
                         .load("10.0.0.1:9100", .1)
                         .uname("10.0.0.2:9100", "b")
                         .uname("10.0.0.1:9100", "a")
                         .joined();
  ASSERT_EQ(fleet.nodes.size(), 2U);
  EXPECT_EQ(fleet.nodes[0].name, "a");
  EXPECT_EQ(fleet.nodes[0].load, .1);
  EXPECT_EQ(fleet.nodes[1].load, .7);
  EXPECT_EQ(fleet.nodes[1].uuid, "u-b");
  EXPECT_EQ(fleet.nodes[1].model, "Board");
}

TEST(Join, else_by_an_instance_that_is_called_like_the_node) {
  EXPECT_EQ(Live().identity("a", "u", "x:5001").load("a", .3).joined().nodes.at(0).load, .3);
  EXPECT_EQ(Live().identity("a", "u", "x:5001").load("a:9100", .3).joined().nodes.at(0).load, .3);
  // An agent gives both families itself.
  EXPECT_EQ(Live().identity("a", "u", "x:9410").load("x:9410", .3).joined().nodes.at(0).load, .3);
}

TEST(Join, else_by_a_mapping) {
  const auto live = Live().identity("a", "u", "x:5001").load("10.0.0.9:9100", .3);
  EXPECT_TRUE(live.reason().starts_with("no series of its load can be told to be its own"));
  EXPECT_EQ(live.joined({.instances = {{"a", "10.0.0.9:9100"}}}).nodes.at(0).load, .3);
}

TEST(Join, stale_nodes_are_left_out) {
  EXPECT_EQ(Live().identity("a", "u", "a", 500).load("a", .3).reason(),
            "nothing was heard of it for 500 s");
  EXPECT_EQ(Live().identity("a", "u", "a").load("a", .3, 500).reason(),
            "its load was read 500 s ago");
  Live gone = Live().identity("a", "u", "a").load("a", .3);
  gone.series.busy_ages.clear();
  EXPECT_EQ(gone.reason(), "its load is not read any more");
  gone.series.identity_ages.clear();
  EXPECT_EQ(gone.reason(), "nothing was heard of it any more");
}

TEST(Join, a_node_that_is_known_but_scraped_seldom_is_left_out_for_that) {
  EXPECT_EQ(Live().identity("a", "u", "x").uname("p:9100", "a").reason(),
            "its load is not known: p:9100 has no two samples of node_cpu_seconds_total within "
            "five minutes");
}

TEST(Join, nodes_that_contradict_themselves_are_left_out) {
  EXPECT_EQ(Live().identity("a", "u-1", "x").identity("a", "u-2", "y").load("a", .3).reason(),
            "several nodes have this name: 'u-1' and 'u-2'");
  const auto twice = [](double second) {
    return Live()
        .identity("a", "u", "x")
        .load("p:9100", .1)
        .load("q:9100", second)
        .uname("p:9100", "a")
        .uname("q:9100", "a")
        .reason();
  };
  EXPECT_EQ(twice(.12), "not left out");
  EXPECT_TRUE(twice(.9).starts_with("2 instances say that they are it, and contradict"));
  EXPECT_EQ(Live().identity("a", "u", "a").load("a", 1.4).reason(),
            "it says that it is 140 % busy");
  EXPECT_EQ(Live().identity("", "u", "a").load("a", .4).reason(), "it has no name");
}

TEST(Join, two_exporters_of_one_node_are_read_at_different_moments) {
  Live live = Live()
                  .identity("a", "u", "x")
                  .load("p:9100", .1, 12)
                  .load("q:9410", .9, 2)
                  .uname("p:9100", "a")
                  .uname("q:9410", "a");
  live.series.boots = {{{{"instance", "p:9100"}}, 1e9}, {{{"instance", "q:9410"}}, 1e9 + 1}};
  ASSERT_EQ(live.reason(), "not left out");
  EXPECT_EQ(live.joined().nodes.at(0).load, .9) << "the fresher one";
  live.series.boots[1].value += 3600;
  EXPECT_EQ(live.reason(),
            "2 instances say that they are it, and contradict each other: they were started 3601 s "
            "apart");
}

TEST(Join, a_former_address_does_not_speak_for_a_node) {
  Live live = Live()
                  .identity("a", "u", "x")
                  .load("10.0.0.1:9100", .9)
                  .load("10.0.0.2:9100", .1)
                  .uname("10.0.0.1:9100", "a")
                  .uname("10.0.0.2:9100", "a");
  live.series.busy_ages.erase(live.series.busy_ages.begin());
  ASSERT_EQ(live.reason(), "not left out");
  EXPECT_EQ(live.joined().nodes.at(0).load, .1);
  live.series.busy_ages[0].value = 500;
  EXPECT_EQ(live.reason(), "its load was read 500 s ago");
}

TEST(Join, a_node_that_was_named_anew_is_the_fresh_one) {
  const auto fleet =
      Live().identity("a", "old", "x", 300).identity("a", "new", "y").load("a", .3).joined();
  ASSERT_EQ(fleet.nodes.size(), 1U);
  EXPECT_EQ(fleet.nodes[0].uuid, "new");
}

TEST(Join, what_else_is_known_comes_with_it) {
  Live live = Live().identity("a", "u", "a").load("a", .3);
  live.series.disk_used.push_back({{{"instance", "a"}}, .6});
  live.series.memory_bytes.push_back({{{"instance", "a"}}, 4e9});
  live.series.cores.push_back({{{"instance", "a"}}, 4});
  live.series.memory_available.push_back({{{"instance", "b"}}, 1e9});
  live.series.watts.push_back({{{"char_node_name", "a"}, {"char_node_uuid", "u"}}, 15});
  const auto fleet = live.joined();
  ASSERT_EQ(fleet.nodes.size(), 1U);
  EXPECT_EQ(fleet.nodes[0].disk_used, .6);
  EXPECT_EQ(fleet.nodes[0].memory_bytes, 4e9);
  EXPECT_EQ(fleet.nodes[0].cores, 4);
  EXPECT_FALSE(fleet.nodes[0].memory_available);
  EXPECT_EQ(fleet.nodes[0].watts, 15);
}

}  // namespace
}  // namespace assay::placement
