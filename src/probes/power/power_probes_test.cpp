// SPDX-License-Identifier: Apache-2.0
#include "test_support.h"

#include <filesystem>
#include <unistd.h>

#include <assay/probes/probe.h>
#include <gtest/gtest.h>

namespace assay::probes {
namespace {
namespace fs = std::filesystem;

/// A copy of a tree that a test may change.
class PowerOfACopy : public testing::Test {
 public:
  PowerOfACopy() {
    std::string pattern = fs::temp_directory_path() / "assay-power-XXXXXX";
    dir_ = mkdtemp(pattern.data());
    fs::copy(sysroot("x86-laptop").path(""), dir_, fs::copy_options::recursive);
    fs::permissions(dir_, fs::perms(0755));
    for (const auto& entry : fs::recursive_directory_iterator(dir_)) {
      fs::permissions(entry.path(), entry.is_directory() ? fs::perms(0755) : fs::perms(0644));
    }
  }
  ~PowerOfACopy() override { fs::remove_all(dir_); }

 protected:
  /// Overwrites in place, since the probes keep the file open.
  void put(const std::string& path, const std::string& text) {
    FILE* file = std::fopen((dir_.native() + path).c_str(), "w");
    ASSERT_NE(file, nullptr);
    std::fputs(text.c_str(), file);
    std::fclose(file);
  }
  fs::path dir_;
};

TEST_F(PowerOfACopy, rapl_goes_on_growing_when_the_counter_starts_over) {
  Watched power(power_probes(SysRoot(dir_)));
  power.sample();
  const double before = power.value("energy_joules_total", "package-0");
  EXPECT_DOUBLE_EQ(before, 262143.3);
  put("/sys/class/powercap/intel-rapl:0/energy_uj", "971150\n");
  power.sample();
  EXPECT_NEAR(power.value("energy_joules_total", "package-0") - before, 1.0, 1e-6);
}

TEST_F(PowerOfACopy, says_how_to_allow_what_may_not_be_read) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to give up its rights";
  for (const std::string zone : {"intel-rapl:0", "intel-rapl:0:0", "intel-rapl:1"}) {
    fs::permissions(dir_ / "sys/class/powercap" / zone / "energy_uj", fs::perms::owner_read);
  }
  ASSERT_EQ(seteuid(65534), 0);
  const Watched power(power_probes(SysRoot(dir_)));
  ASSERT_EQ(seteuid(0), 0);
  const std::string why = power.why_not("domain=psys");
  EXPECT_NE(why.find("Permission denied"), std::string::npos) << why;
  EXPECT_NE(why.find("sudo chmod"), std::string::npos) << why;
  EXPECT_EQ(power.closed().count("energy"), 0U) << "the hwmon counter can still be read";
}

TEST(PowerProbes, of_a_laptop) {
  Watched power(power_probes(sysroot("x86-laptop")));
  power.sample();
  EXPECT_DOUBLE_EQ(power.value("energy_joules_total", "package-0/core"), 101);
  EXPECT_DOUBLE_EQ(power.value("energy_joules_total", "psys"), 901);
  EXPECT_DOUBLE_EQ(power.value("energy_joules_total", "ucsi"), 7);
  EXPECT_NEAR(power.value("power_watts", "PPT"), 15.012, 1e-9);
  EXPECT_NEAR(power.value("power_watts", "BAT0"), 8.765, 1e-9);
  EXPECT_NEAR(power.value("power_watts", "BAT1"), 6.0, 1e-9);
  EXPECT_DOUBLE_EQ(power.value("battery_charge_ratio", "BAT0"), 0.83);
  EXPECT_FALSE(power.find("battery_charge_ratio", "hidpp_battery_0")) << "the mouse's";
  int packages = 0;
  for (const auto& info : power.series().list())
    packages += info.labels == Labels{{"domain", "package-0"}} ? 1 : 0;
  EXPECT_EQ(packages, 1) << "intel-rapl-mmio is the same counter once more";
}

TEST(PowerProbes, of_a_jetson_multiplies_volts_and_amperes_per_rail) {
  Watched power(power_probes(sysroot("jetson-agx-orin")));
  power.sample();
  EXPECT_NEAR(power.value("power_watts", "VDD_GPU_SOC"), 19.872 * 0.240, 1e-9);
  EXPECT_NEAR(power.value("power_watts", "VDD_CPU_CV"), 19.880 * 0.080, 1e-9);
  EXPECT_NEAR(power.value("power_watts", "VIN_SYS_5V0"), 5.016 * 0.792, 1e-9);
  EXPECT_EQ(power.series().list().size(), 3U) << "shunt voltages are not rails";
  EXPECT_NE(power.closed().at("energy").find("no energy counter"), std::string::npos);
}

TEST(PowerProbes, of_an_older_jetson) {
  Watched power(power_probes(sysroot("jetson-nano")));
  power.sample();
  EXPECT_NEAR(power.value("power_watts", "POM_5V_IN"), 2.341, 1e-9);
  EXPECT_NEAR(power.value("power_watts", "POM_5V_CPU"), 0.780, 1e-9);
}

TEST(PowerProbes, of_a_machine_without_sensors_say_so) {
  const Watched power(power_probes(sysroot("vm-cgroup-v1")));
  EXPECT_EQ(power.closed().size(), 2U);
  EXPECT_TRUE(power.series().list().empty());
}

}  // namespace
}  // namespace assay::probes
