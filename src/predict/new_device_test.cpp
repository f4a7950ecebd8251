// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <random>

#include <assay/predict/leave_devices_out.h>
#include <assay/predict/new_device.h>
#include <gtest/gtest.h>

namespace assay::predict {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr size_t kItems = 30;

/// Each device has a speed, and a liking for items with a large feature.
double log_time(double speed, double liking, size_t item) {
  const double feature = static_cast<double>(item) / kItems - 0.5;
  return -3 + speed + liking * feature + std::sin(7 * feature);
}
KnownDevices known_devices() {
  std::mt19937_64 random(1);
  const auto draw = [&] { return static_cast<double>(random() >> 11U) * 0x1p-53 - 0.5; };
  KnownDevices known{Grid(kItems, 1), std::vector<std::string>(kItems), Grid(12, kItems)};
  for (size_t item = 0; item < kItems; ++item)
    known.features.at(item, 0) = static_cast<double>(item);
  for (size_t device = 0; device < 12; ++device) {
    const double speed = 3 * draw();
    const double liking = 2 * draw();
    for (size_t item = 0; item < kItems; ++item)
      known.log_times.at(device, item) = log_time(speed, liking, item);
  }
  return known;
}

TEST(NewDevice, is_told_by_a_few_runs) {
  const auto together = learn_together(known_devices(), kBeliefs[0]);
  const std::vector<MeasuredRun> runs = {
      {2, log_time(4, 1.5, 2)}, {15, log_time(4, 1.5, 15)}, {27, log_time(4, 1.5, 27)}};
  const Told told = tell_new_device(together, runs);
  for (size_t item = 0; item < kItems; ++item)
    EXPECT_NEAR(told.log_times[item], log_time(4, 1.5, item), 0.1) << item;
  EXPECT_LT(told.deviations[15], told.deviations[0]);
}

TEST(NewDevice, no_runs_give_the_mean_of_the_others) {
  const auto together = learn_together(known_devices(), kBeliefs[0]);
  const Told told = tell_new_device(together, {});
  EXPECT_EQ(told.log_times, together.mean);
  EXPECT_GT(told.deviations[0], 0.5);
}

TEST(NewDevice, an_item_that_nobody_measured_is_told_by_its_features) {
  auto known = known_devices();
  for (size_t device = 0; device < 12; ++device) known.log_times.at(device, 14) = kNone;
  const auto together = learn_together(known, kBeliefs[0]);
  std::vector<MeasuredRun> runs;
  for (const size_t item : {1U, 8U, 13U, 16U, 22U, 28U})
    runs.push_back({item, log_time(1, 1, item)});
  // Devices' mean level stands in for the item's own.
  const Told told = tell_new_device(together, runs);
  EXPECT_NEAR(told.log_times[14], log_time(1, 1, 14), 0.3);
}

TEST(NewDevice, more_doubt_is_told_of_an_item_that_nobody_measured) {
  auto known = known_devices();
  // Each item takes more or less than its features say, the same on every device.
  const auto own = [](size_t item) { return static_cast<double>(item * 7 % 11) / 10 - 0.5; };
  for (size_t device = 0; device < 12; ++device)
    for (size_t item = 0; item < kItems; ++item) known.log_times.at(device, item) += own(item);
  std::vector<MeasuredRun> runs;
  for (const size_t item : {2U, 12U, 20U, 27U})
    runs.push_back({item, log_time(1, 1, item) + own(item)});
  const Told before = tell_new_device(learn_together(known, kBeliefs[0]), runs);
  for (size_t device = 0; device < 12; ++device) known.log_times.at(device, 14) = kNone;
  const Told after = tell_new_device(learn_together(known, kBeliefs[0]), runs);
  EXPECT_GT(after.deviations[14], 2 * before.deviations[14]);
  EXPECT_GT(after.deviations[14], 2 * after.deviations[13]) << "which others have measured";
  EXPECT_LT(std::abs(after.log_times[14] - log_time(1, 1, 14) - own(14)), 2 * after.deviations[14]);
}

TEST(ChooseRuns, takes_each_once_and_tells_more_than_neighbours_do) {
  const auto together = learn_together(known_devices(), kBeliefs[2]);
  std::vector<size_t> all(kItems);
  for (size_t i = 0; i < kItems; ++i) all[i] = i;
  auto chosen = choose_runs(together, all, 4);
  ASSERT_EQ(chosen.size(), 4U);
  std::sort(chosen.begin(), chosen.end());
  EXPECT_EQ(std::unique(chosen.begin(), chosen.end()), chosen.end());
  const auto doubt = [&](const std::vector<size_t>& items) {
    std::vector<MeasuredRun> runs;
    for (const size_t item : items) runs.push_back({item, log_time(0, 0, item)});
    double sum = 0;
    for (const double one : tell_new_device(together, runs).deviations) sum += one;
    return sum;
  };
  EXPECT_LT(doubt(chosen), doubt({0, 1, 2, 3}));
  EXPECT_EQ(choose_runs(together, all, 100).size(), kItems) << "there are no more";
}

Table table_of(const KnownDevices& known) {
  Table table;
  table.features = known.features;
  table.seconds = known.log_times;
  for (double& time : table.seconds.values) time = std::exp(time);
  for (size_t item = 0; item < kItems; ++item)
    table.items.push_back({fmt::format("m{}", item), ""});
  for (size_t device = 0; device < 12; ++device) {
    table.tasks.push_back(fmt::format("t{}", device));
    table.devices.push_back(fmt::format("d{}", device / 2));
  }
  return table;
}

TEST(LeaveDevicesOut, tells_each_from_the_others) {
  const Table table = table_of(known_devices());
  NewDeviceTrial trial{.runs = 5, .runs_chosen = true};
  const auto found = leave_devices_out(table, trial);
  EXPECT_EQ(found.judged.size(), 12 * (kItems - 5));
  EXPECT_LT(accuracy(found.judged).mean_relative_error, 0.03);
  trial.runs = kItems - 4;
  EXPECT_TRUE(leave_devices_out(table, trial).judged.empty()) << "too few are left to tell";
}

TEST(LeaveDevicesOut, intervals_hold_their_share_of_items_that_were_never_run) {
  auto known = known_devices();
  std::mt19937_64 random(3);
  for (double& time : known.log_times.values) {
    double normal = -6;
    for (int i = 0; i < 12; ++i) normal += static_cast<double>(random() >> 11U) * 0x1p-53;
    time += 0.1 * normal;
  }
  const auto found = leave_devices_out(table_of(known), {.runs = 5});
  EXPECT_EQ(found.intervals.size(), 3 * 12 * (kItems - 5));
  EXPECT_NEAR(coverage(found.intervals), 0.8, 0.05);
}

}  // namespace
}  // namespace assay::predict
