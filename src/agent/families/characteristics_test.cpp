// SPDX-License-Identifier: Apache-2.0
#include "families/characteristics.h"

#include "testing/machine.h"

#include <algorithm>

#include <assay/promapi/exposition.h>
#include <gtest/gtest.h>

namespace assay::agent {
namespace {

SysRoot tree(const std::string& name) {
  return SysRoot(std::string(ASSAY_SOURCE_DIR) + "/tests/sysroots/" + name);
}

std::string scrape(Characteristics& characteristics) {
  promapi::Exposition out;
  out.start(promapi::TextFormat::classic);
  characteristics.write(out);
  std::string_view text = out.finish();
  std::string samples;
  while (!text.empty()) {
    const std::string line(text.substr(0, text.find('\n') + 1));
    text.remove_prefix(line.size());
    if (line.front() != '#') samples += line;
  }
  return samples;
}

std::string text_of(const SysRoot& root, const Location& location = {}) {
  const ManualClock clock(from_unix_ns(1'700'000'000'000'000'000));
  Characteristics characteristics(root, clock, location);
  return scrape(characteristics);
}

class CharacteristicTrees : public ::testing::TestWithParam<const char*> {};

TEST_P(CharacteristicTrees, give_what_was_written_down_for_them) {
  const std::string name = GetParam();
  const auto expected =
      read_file(std::string(ASSAY_TESTDATA) + "/characteristics/" + name + ".prom");
  ASSERT_TRUE(expected) << expected.error().message;
  EXPECT_EQ(text_of(tree(name)), *expected);
}

INSTANTIATE_TEST_SUITE_P(, CharacteristicTrees,
                         ::testing::Values("raspberry-pi-4", "jetson-agx-orin", "x86-laptop",
                                           "vm-cgroup-v1", "gpu-server-cgroup-v2"),
                         [](const auto& one) {
                           std::string name = one.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Characteristics, are_absent_where_there_are_no_files) {
  EXPECT_EQ(text_of(SysRoot("/nonexistent")), "");
}

TEST(Characteristics, tell_the_location_that_was_configured) {
  const testing::Machine machine;
  Location location;
  location.city = "Chicago";
  location.latitude = 41.87;
  location.longitude = -87.65;
  EXPECT_EQ(text_of(machine.root(), location),
            R"(char_node_location{char_node_city="Chicago",char_node_class="Computer",)"
            R"(char_node_latitude="41.87",char_node_longitude="-87.65"} 1)"
            "\n");
}

TEST(Characteristics, add_up_the_disks_that_are_hardware) {
  const testing::Machine machine;
  for (const std::string disk : {"sda", "nvme0n1", "sr0", "loop0"})
    machine.write("/sys/block/" + disk + "/size", "2000\n");
  for (const std::string disk : {"sda", "nvme0n1", "sr0"})
    machine.write("/sys/block/" + disk + "/device/model", "x\n");
  EXPECT_EQ(text_of(machine.root()),
            "char_node_disk_total_size{char_node_class=\"Computer\"} 2048000\n");
}

TEST(Characteristics, have_the_gpus_that_can_compute) {
  const testing::Machine machine;
  const auto add = [&](const std::string& address, const std::string& pci_class,
                       const std::string& vendor, const std::string& device) {
    const std::string folder = "/sys/bus/pci/devices/" + address;
    machine.write(folder + "/class", pci_class + "\n");
    machine.write(folder + "/vendor", vendor + "\n");
    machine.write(folder + "/device", device + "\n");
  };
  add("0000:00:02.0", "0x030000", "0x8086", "0x9a49");
  add("0000:01:00.0", "0x030200", "0x10de", "0x2330");
  add("0000:01:00.1", "0x040300", "0x10de", "0x22ba");
  add("0000:02:00.0", "0x030000", "0x1a03", "0x2000");
  add("0000:03:00.0", "0x038000", "0x1002", "0x740f");
  machine.write("/proc/driver/nvidia/gpus/0000:01:00.0/information",
                "Model: \t\t NVIDIA H100 80GB HBM3\nIRQ: 5\n");
  const std::string node = R"(char_node_gpu{char_node_class="Computer",char_node_gpu_id=)";
  EXPECT_EQ(text_of(machine.root()),
            node + R"("0",char_node_gpu_model="Intel 0x9a49",)" +
                R"(char_node_gpu_type="Integrated graphics processing"} 1)" + "\n" + node +
                R"("1",char_node_gpu_model="NVIDIA H100 80GB HBM3",)" +
                R"(char_node_gpu_type="Dedicated graphics processing"} 1)" + "\n" + node +
                R"("2",char_node_gpu_model="AMD 0x740f"} 1)" + "\n");
}

TEST(Characteristics, see_the_plug) {
  const testing::Machine machine;
  machine.write("/sys/class/power_supply/BAT0/type", "Battery\n");
  machine.write("/sys/class/power_supply/BAT0/capacity", "40\n");
  machine.write("/sys/class/power_supply/BAT0/status", "Charging\n");
  const ManualClock clock(from_unix_ns(1'700'000'000'000'000'000));
  Characteristics characteristics(machine.root(), clock, {});
  const std::string family = R"(char_node_battery{char_node_class="Computer",)";
  EXPECT_EQ(scrape(characteristics), family + "char_node_plugged_battery=\"true\"} 40\n");
  machine.write("/sys/class/power_supply/BAT0/status", "Discharging\n");
  machine.write("/sys/class/power_supply/BAT0/capacity", "39\n");
  EXPECT_EQ(scrape(characteristics), family + "char_node_plugged_battery=\"false\"} 39\n");
}

class CpuPowerTest : public ::testing::Test {
 protected:
  void set(const std::string& zone, const std::string& name, uint64_t microjoules) const {
    const std::string folder = "/sys/class/powercap/" + zone;
    machine_.write(folder + "/name", name + "\n");
    machine_.write(folder + "/energy_uj", std::to_string(microjoules) + "\n");
    machine_.write(folder + "/max_energy_range_uj", "1000000000\n");
  }

  testing::Machine machine_;
  ManualClock clock_{from_unix_ns(1'700'000'000'000'000'000)};
};

TEST_F(CpuPowerTest, is_the_energy_of_all_packages_over_time) {
  set("intel-rapl:0", "package-0", 5'000'000);
  set("intel-rapl:0:0", "core", 3'000'000);
  set("intel-rapl:1", "package-1", 999'000'000);
  set("intel-rapl:2", "psys", 0);
  CpuPower power(machine_.root(), clock_);
  EXPECT_EQ(power.watts(), std::nullopt) << "nothing to compare with yet";
  clock_.advance(std::chrono::seconds(10));
  set("intel-rapl:0", "package-0", 105'000'000);
  set("intel-rapl:0:0", "core", 90'000'000);
  set("intel-rapl:1", "package-1", 49'000'000);  // began anew
  set("intel-rapl:2", "psys", 500'000'000);
  EXPECT_EQ(power.watts(), 15.0);
  clock_.advance(Milliseconds(50));
  set("intel-rapl:0", "package-0", 106'000'000);
  EXPECT_EQ(power.watts(), 15.0) << "too soon for another answer";
  clock_.advance(Milliseconds(950));
  EXPECT_EQ(power.watts(), 1.0);
}

TEST_F(CpuPowerTest, is_nothing_without_a_counter) {
  CpuPower power(machine_.root(), clock_);
  (void)power.watts();
  clock_.advance(std::chrono::seconds(10));
  EXPECT_EQ(power.watts(), std::nullopt);
}

}  // namespace
}  // namespace assay::agent
