// SPDX-License-Identifier: Apache-2.0
#include "test_support.h"

#include <assay/probes/probe.h>
#include <gtest/gtest.h>

namespace assay::probes {
namespace {

using Lines = std::vector<std::string>;

TEST(Device, of_a_raspberry_pi) {
  const Device pi = read_device(sysroot("raspberry-pi-4"));
  EXPECT_EQ(pi.hostname, "pi-on-a-pole");
  EXPECT_EQ(pi.model, "Raspberry Pi 4 Model B Rev 1.4");
  EXPECT_EQ(pi.device_class, "Computer");
  EXPECT_EQ(pi.cpu_model, "Cortex-A72");
  EXPECT_EQ(pi.architecture, "aarch64");
  EXPECT_EQ(pi.cores, 4);
  EXPECT_EQ(pi.memory_bytes, 3884376U * 1024);
  EXPECT_EQ(pi.os, "Debian GNU/Linux 12 (bookworm)");
  EXPECT_EQ(pi.kernel, "6.6.31+rpt-rpi-v8");
  EXPECT_EQ(pi.machine_id, "00000000000000000000000000000004");
}

TEST(Device, of_other_machines) {
  EXPECT_EQ(read_device(sysroot("jetson-agx-orin")).cpu_model, "Cortex-A78AE");
  EXPECT_EQ(read_device(sysroot("jetson-agx-orin")).cores, 8)
      << "four are switched off in this power mode";
  EXPECT_EQ(read_device(sysroot("x86-laptop")).model, "LENOVO 20XW0000XX");
  EXPECT_EQ(read_device(sysroot("x86-laptop")).device_class, "Computer");
  const Device vm = read_device(sysroot("vm-cgroup-v1"));
  EXPECT_EQ(vm.device_class, "VM");
  EXPECT_EQ(vm.cpu_model, "AMD EPYC");
  EXPECT_EQ(vm.cores, 2);
}

TEST(Device, of_this_machine) {
  const Device device = read_device(SysRoot());
  EXPECT_GT(device.cores, 0);
  EXPECT_GT(device.memory_bytes, 1U << 20U);
  EXPECT_FALSE(device.kernel.empty());
  EXPECT_FALSE(device.architecture.empty());
}

TEST(BoardState, spells_out_the_raspberry_pis_throttling) {
  const BoardState pi = read_board_state(sysroot("raspberry-pi-4"));
  EXPECT_EQ(pi.governor, "ondemand");
  EXPECT_EQ(pi.min_frequency_hertz, 600e6);
  EXPECT_EQ(pi.max_frequency_hertz, 1800e6);
  EXPECT_EQ(pi.throttling, (Lines{"under-voltage now", "under-voltage since boot", "throttled now",
                                  "throttled since boot"}));
  EXPECT_DOUBLE_EQ(pi.load_before, 0.42);
  EXPECT_EQ(pi.power_mode, "");
}

TEST(BoardState, names_the_jetsons_power_mode) {
  EXPECT_EQ(read_board_state(sysroot("jetson-agx-orin")).power_mode, "mode 2 (MODE_30W)");
  EXPECT_EQ(read_board_state(sysroot("jetson-nano")).power_mode, "mode 0");
}

TEST(BoardState, has_x86_counters_and_every_governor) {
  const BoardState laptop = read_board_state(sysroot("x86-laptop"));
  EXPECT_EQ(laptop.governor, "performance+powersave");
  EXPECT_EQ(laptop.throttling, (Lines{"core_throttle_count 12", "package_throttle_count 40"}));
}

TEST(BoardState, of_a_machine_that_hides_it_is_empty) {
  const BoardState vm = read_board_state(sysroot("vm-cgroup-v1"));
  EXPECT_EQ(vm.governor, "");
  EXPECT_FALSE(vm.max_frequency_hertz);
  EXPECT_TRUE(vm.throttling.empty());
  EXPECT_EQ(vm.kernel, "6.18.44");
}

TEST(StateDifferences, equal_states_can_be_compared) {
  const BoardState pi = read_board_state(sysroot("raspberry-pi-4"));
  EXPECT_EQ(state_differences(pi, pi), Lines{});
}

TEST(StateDifferences, says_what_changed) {
  BoardState before;
  before.governor = "powersave";
  before.max_frequency_hertz = 1800e6;
  before.throttling = {"throttled now", "core_throttle_count 3"};
  before.load_before = 0.1;
  BoardState after = before;
  after.governor = "performance";
  after.max_frequency_hertz = 600e6;
  after.throttling = {"core_throttle_count 4"};
  after.power_mode = "mode 2";
  after.load_before = 3.2;
  EXPECT_EQ(state_differences(before, after),
            (Lines{"governor was powersave, is performance",
                   "highest frequency was 1 800 MHz, is 600 MHz",
                   "throttling is new: core_throttle_count 4", "throttling is over: throttled now",
                   "power mode was none, is mode 2", "load before the start was 0.1, is 3.2"}));
}

TEST(StateDifferences, a_counter_that_a_reboot_reset_is_no_difference) {
  BoardState before;
  before.throttling = {"core_throttle_count 12"};
  BoardState after;
  after.throttling = {"core_throttle_count 3"};
  EXPECT_EQ(state_differences(before, after), Lines{});
}

}  // namespace
}  // namespace assay::probes
