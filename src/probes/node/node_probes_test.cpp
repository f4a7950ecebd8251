// SPDX-License-Identifier: Apache-2.0
#include "test_support.h"

#include <assay/probes/probe.h>
#include <gtest/gtest.h>

namespace assay::probes {
namespace {

TEST(NodeProbes, of_a_raspberry_pi) {
  Watched node(node_probes(sysroot("raspberry-pi-4")));
  node.sample();
  EXPECT_EQ(node.closed(), (std::map<std::string, std::string>{}));
  EXPECT_DOUBLE_EQ(node.value("cpu_user_seconds_total"), 1207);
  EXPECT_DOUBLE_EQ(node.value("cpu_system_seconds_total"), 423);
  EXPECT_DOUBLE_EQ(node.value("cpu_usage_seconds_total"), 1630);
  EXPECT_DOUBLE_EQ(node.value("context_switches_total"), 55512345);
  EXPECT_DOUBLE_EQ(node.value("memory_bytes"), (3884376.0 - 3108224) * 1024);
  EXPECT_DOUBLE_EQ(node.value("memory_cache_bytes"), (61440.0 + 1310720) * 1024);
  EXPECT_DOUBLE_EQ(node.value("memory_rss_bytes"), (524288.0 + 262144) * 1024);
  EXPECT_DOUBLE_EQ(node.value("memory_swap_bytes"), 0);
  EXPECT_DOUBLE_EQ(node.value("page_faults_total"), 98765432);
  EXPECT_DOUBLE_EQ(node.value("major_page_faults_total"), 4321);
  EXPECT_DOUBLE_EQ(node.value("disk_read_bytes_total"), 2412340.0 * 512);
  EXPECT_DOUBLE_EQ(node.value("disk_writes_total"), 22110);
  EXPECT_DOUBLE_EQ(node.value("network_receive_bytes_total"), 5012345);
  EXPECT_DOUBLE_EQ(node.value("network_transmit_bytes_total"), 1212345);
  EXPECT_DOUBLE_EQ(node.value("load1"), 0.42);
  EXPECT_DOUBLE_EQ(node.value("threads"), 164);
  EXPECT_DOUBLE_EQ(node.value("open_files"), 1312);
  EXPECT_NEAR(node.value("pressure_io_stalled_seconds_total"), 81.234567, 1e-9);
  EXPECT_DOUBLE_EQ(node.value("cpu_frequency_hertz", "0"), 1.5e9);
  EXPECT_NEAR(node.value("temperature_celsius", "cpu-thermal"), 61.835, 1e-9);
  for (const auto& info : node.series().list()) EXPECT_EQ(info.scope, Scope::node) << info.name;
}

TEST(NodeProbes, name_a_sensor_that_gives_nothing) {
  const Watched node(node_probes(sysroot("jetson-agx-orin")));
  EXPECT_NE(node.why_not("type=cv0-thermal").find("no number"), std::string::npos);
  EXPECT_TRUE(node.find("temperature_celsius", "gpu-thermal"));
  EXPECT_TRUE(node.find("cpu_frequency_hertz", "8"));
}

TEST(NodeProbes, tell_two_chips_of_one_name_apart) {
  Watched node(node_probes(sysroot("x86-laptop")));
  node.sample();
  EXPECT_NEAR(node.value("temperature_celsius", "nvme"), 38.85, 1e-9);
  EXPECT_NEAR(node.value("temperature_celsius", "nvme/hwmon2"), 41.85, 1e-9);
  EXPECT_NEAR(node.value("temperature_celsius", "Package id 0"), 52, 1e-9);
}

TEST(NodeProbes, of_a_virtual_machine_say_what_it_hides) {
  Watched node(node_probes(sysroot("vm-cgroup-v1")));
  node.sample();
  EXPECT_EQ(node.closed().size(), 2U);
  EXPECT_NE(node.closed().at("node frequency").find("virtual machines hide"), std::string::npos);
  EXPECT_NE(node.closed().at("node temperature").find("virtual machines hide"), std::string::npos);
  EXPECT_DOUBLE_EQ(node.value("processes"), 1);
}

TEST(NodeProbes, of_this_machine_give_plausible_values) {
  Watched node(node_probes(SysRoot()));
  node.sample();
  EXPECT_GT(node.value("cpu_usage_seconds_total"), 0);
  EXPECT_GT(node.value("memory_bytes"), 1e6);
  EXPECT_GT(node.value("processes"), 1);
  EXPECT_GE(node.value("threads"), node.value("processes"));
}

}  // namespace
}  // namespace assay::probes
