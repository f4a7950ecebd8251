// SPDX-License-Identifier: Apache-2.0
#include "power.h"

#include "test_run.h"

#include <gtest/gtest.h>

namespace assay::analysis {
namespace {

Series rapl(const std::string& domain, double watts) {
  return make_series(
      describe(MetricId::energy_joules_total, Scope::node, "RAPL " + domain, {{"domain", domain}}),
      {{0, 1000}, {10, 1000 + 10 * watts}});
}

Series meter(const std::string& chip, const std::string& sensor, double watts) {
  return make_series(describe(MetricId::power_watts, Scope::node, chip + " " + sensor,
                              {{"chip", chip}, {"sensor", sensor}}),
                     {{0, watts}});
}

Series battery(double watts) {
  return make_series(
      describe(MetricId::power_watts, Scope::node, "power_now", {{"battery", "BAT0"}}),
      {{0, watts}});
}

std::string source(const std::vector<Series>& recorded) {
  return power_of(recorded, at(0), at(10)).value().source;
}

double mean_power(const std::vector<Series>& recorded) {
  return power_of(recorded, at(0), at(10)).value().mean;
}

TEST(Power, is_absent_where_nothing_measures_it) {
  EXPECT_FALSE(power_of({}, at(0), at(10)));
  EXPECT_FALSE(power_of({make_series(describe(MetricId::memory_bytes, Scope::node, "x"), {{0, 1}})},
                        at(0), at(10)));
}

TEST(Power, adds_packages_but_not_their_parts) {
  const std::vector<Series> recorded = {rapl("package-0", 20), rapl("package-0/core", 15),
                                        rapl("package-0/dram", 2), rapl("package-1", 30),
                                        rapl("package-1/core", 25)};
  EXPECT_DOUBLE_EQ(mean_power(recorded), 50);
  EXPECT_EQ(source(recorded), "whole node: RAPL package-0 + package-1");
  EXPECT_EQ(power_of(recorded, at(0), at(10))->unit, "watts");
}

TEST(Power, takes_the_platform_domain_alone) {
  EXPECT_DOUBLE_EQ(mean_power({rapl("package-0", 20), rapl("psys", 31), battery(40)}), 31);
}

TEST(Power, takes_a_meter_at_the_supply_alone) {
  EXPECT_DOUBLE_EQ(mean_power({meter("ina3221", "VDD_CPU_CV", 5), meter("ina3221", "VDD_IN", 9),
                               meter("ina3221", "VDD_SOC", 2)}),
                   9);
  const std::vector<Series> server = {rapl("package-0", 20), meter("power_meter", "power1", 90)};
  EXPECT_DOUBLE_EQ(mean_power(server), 90);
  EXPECT_EQ(source(server), "whole node: power_meter power1");
}

TEST(Power, adds_amd_sockets_but_not_their_cores) {
  const auto amd = [](const char* sensor, double watts) {
    return make_series(describe(MetricId::energy_joules_total, Scope::node, sensor,
                                {{"chip", "amd_energy"}, {"sensor", sensor}}),
                       {{0, 0}, {10, 10 * watts}});
  };
  EXPECT_DOUBLE_EQ(mean_power({amd("Ecore000", 3), amd("Esocket0", 40), amd("Esocket1", 50)}), 90);
}

TEST(Power, takes_the_highest_of_unknown_meters_and_does_not_call_it_the_whole_node) {
  const std::vector<Series> recorded = {meter("amdgpu", "PPT", 25), meter("nvme", "power1", 7),
                                        battery(40)};
  EXPECT_DOUBLE_EQ(mean_power(recorded), 25);
  EXPECT_EQ(source(recorded), "one meter of the node: amdgpu PPT");
}

TEST(Power, takes_a_battery_that_works_when_there_is_nothing_else) {
  EXPECT_DOUBLE_EQ(mean_power({battery(8)}), 8);
  EXPECT_FALSE(power_of({battery(0)}, at(0), at(10)));
}

}  // namespace
}  // namespace assay::analysis
