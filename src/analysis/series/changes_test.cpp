// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <numbers>
#include <random>

#include <assay/analysis/series_analysis.h>
#include <gtest/gtest.h>

namespace assay::analysis {
namespace {

class Changes : public testing::Test {
 protected:
  double noise() { return normal_(engine_); }
  std::mt19937_64 engine_{11};
  std::normal_distribution<> normal_;
  std::uniform_real_distribution<> uniform_;
};

TEST_F(Changes, are_found_where_the_level_changed) {
  std::vector<double> values;
  for (const double level : {10.0, 30.0, 22.0})
    for (int i = 0; i < 200; ++i) values.push_back(level + 2 * noise());
  const auto changes = find_changes(values, {});
  ASSERT_EQ(changes.size(), 2);
  EXPECT_NEAR(static_cast<double>(changes[0].at), 200, 2);
  EXPECT_NEAR(changes[0].before, 10, 1);
  EXPECT_NEAR(changes[0].after, 30, 1);
  EXPECT_NEAR(static_cast<double>(changes[1].at), 400, 2);
}

TEST_F(Changes, noise_and_a_wandering_level_have_few_or_none) {
  int of_noise = 0, of_memory = 0;
  for (int series = 0; series < 50; ++series) {
    std::vector<double> white(500), slow(500);
    double level = 0;
    for (size_t i = 0; i < white.size(); ++i) {
      white[i] = noise();
      slow[i] = level = 0.7 * level + noise();
    }
    of_noise += static_cast<int>(find_changes(white, {}).size());
    of_memory += static_cast<int>(find_changes(slow, {}).size());
  }
  EXPECT_LE(of_noise, 1);
  EXPECT_LE(of_memory, 5);
}

TEST_F(Changes, a_cycle_is_none) {
  std::vector<double> values(720);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = 40 + 30 * std::sin(2 * std::numbers::pi * static_cast<double>(i) / 72) + noise() +
                (i >= 360 ? 15 : 0);
  const auto changes = find_changes(values, find_cycles(values));
  ASSERT_EQ(changes.size(), 1);
  EXPECT_NEAR(static_cast<double>(changes[0].at), 360, 15);
}

/// Quiet nights, busy days: a minute's values of some days.
std::vector<double> busy_days(double days) {
  std::vector<double> values(static_cast<size_t>(days * 1440));
  for (size_t i = 0; i < values.size(); ++i) {
    const double hour = static_cast<double>(i % 1440) / 60;
    values[i] = 15 + 60 / (1 + std::exp(-4 * (hour - 8))) - 60 / (1 + std::exp(-4 * (hour - 18)));
  }
  return values;
}

TEST_F(Changes, slopes_of_days_are_none_even_when_there_are_two_or_three_only) {
  for (const double days : {2.0, 2.4, 3.0, 3.5}) {
    auto values = busy_days(days);
    for (double& value : values) value += 3 * noise();
    ASSERT_TRUE(find_cycles(values).empty()) << days;
    EXPECT_TRUE(find_changes(values, {}).empty()) << days;
  }
}

TEST_F(Changes, what_only_one_of_three_days_has_is_one) {
  for (const size_t at : {500, 2000, 2900}) {
    auto values = busy_days(3);
    for (size_t i = 0; i < values.size(); ++i) values[i] += 3 * noise() + (i >= at ? 20 : 0);
    const auto changes = find_changes(values, {});
    ASSERT_EQ(changes.size(), 1) << at;
    EXPECT_NEAR(static_cast<double>(changes[0].at), static_cast<double>(at), 12);
    EXPECT_NEAR(changes[0].after - changes[0].before, 20, 3);
  }
}

TEST_F(Changes, stairs_do_not_come_again) {
  std::vector<double> values;
  for (const double level : {10.0, 20.0, 30.0, 40.0})
    for (int i = 0; i < 200; ++i) values.push_back(level + noise());
  EXPECT_EQ(find_changes(values, {}).size(), 3);
}

TEST_F(Changes, a_slow_wave_or_a_trend_has_none_but_the_step_in_it_is_one) {
  std::vector<double> values(1200);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = 40 + 30 * std::sin(2 * std::numbers::pi * static_cast<double>(i) / 800) + noise() +
                0.02 * static_cast<double>(i);
  EXPECT_TRUE(find_changes(values, {}).empty());
  for (size_t i = 700; i < values.size(); ++i) values[i] += 25;
  const auto changes = find_changes(values, {});
  ASSERT_EQ(changes.size(), 1);
  EXPECT_NEAR(static_cast<double>(changes[0].at), 700, 2);
}

TEST_F(Changes, between_levels_that_are_the_same_are_none) {
  for (int series = 0; series < 20; ++series) {
    std::vector<double> river(1440);
    double flood = 0;
    for (double& value : river) {
      const double chance = uniform_(engine_);
      flood = flood * 0.985 + (chance < 0.004 ? 0.5 + 600 * chance : 0);
      value = 1 + flood + 0.01 * noise();
    }
    for (const auto& change : find_changes(river, {}))
      EXPECT_GT(std::abs(change.after - change.before), 0.05) << series << " " << change.at;
  }
}

/// A river's stage: in its first two thirds it rises at times, at once, by what chance has, and
/// recedes to `left` of that in each step.
std::vector<double> floods(std::mt19937_64& engine, double chance, double left) {
  std::uniform_real_distribution<> uniform;
  std::normal_distribution<> noise;
  std::vector<double> river(1440);
  double flood = 0;
  for (size_t i = 0; i < river.size(); ++i) {
    flood = flood * left +
            (i > 100 && i < 960 && uniform(engine) < chance ? 0.5 + 3 * uniform(engine) : 0);
    river[i] = 1 + flood + 0.01 * noise(engine);
  }
  return river;
}

TEST_F(Changes, floods_that_recede_are_none_however_slowly) {
  int told = 0;
  for (const double left : {0.99, 0.995, 0.998})
    for (int series = 0; series < 12; ++series)
      told += static_cast<int>(!find_changes(floods(engine_, 0.002, left), {}).empty());
  EXPECT_LE(told, 4);
}

TEST_F(Changes, drifts_in_noise_are_none) {
  int told = 0, steps = 0;
  for (int series = 0; series < 40; ++series) {
    std::vector<double> slope(1200), wave(1200);
    for (size_t i = 0; i < slope.size(); ++i) {
      const auto at = static_cast<double>(i);
      slope[i] = (series % 2 ? 0.02 : 0.005) * at + noise();
      wave[i] = 5 * std::sin(2 * std::numbers::pi * at / 800 + series) + noise();
    }
    told += static_cast<int>(find_changes(slope, {}).size() + find_changes(wave, {}).size());
    for (size_t i = 500; i < slope.size(); ++i) slope[i] += 4;
    steps += static_cast<int>(find_changes(slope, {}).size());
  }
  EXPECT_LE(told, 2);
  EXPECT_NEAR(steps, 40, 4) << "the step in a drift is one";
}

TEST_F(Changes, gaps_constants_and_short_series_are_no_harm) {
  EXPECT_TRUE(find_changes({}, {}).empty());
  EXPECT_TRUE(find_changes(std::vector<double>(10, 1), {}).empty());
  EXPECT_TRUE(find_changes(std::vector<double>(400, 5), {}).empty());
  EXPECT_TRUE(find_changes(std::vector<double>(400, std::nan("")), {}).empty());
  std::vector<double> step(60, 1);
  std::fill(step.begin() + 30, step.end(), 2);
  step[3] = std::nan("");
  const auto changes = find_changes(step, {});
  ASSERT_EQ(changes.size(), 1);
  EXPECT_EQ(changes[0].at, 30);
}

/// Nothing is known of some values.
void forget(std::vector<double>& values, size_t from, size_t to) {
  std::fill(values.begin() + static_cast<ptrdiff_t>(from),
            values.begin() + static_cast<ptrdiff_t>(to), std::nan(""));
}

TEST_F(Changes, a_gap_is_none) {
  for (const size_t length : {400, 9000})
    for (int series = 0; series < 50; ++series) {
      std::vector<double> values(length);
      double slow = 0;
      for (double& value : values)
        value = 100 + noise() + (series % 2 ? slow = 0.5 * slow + noise() : 0);
      forget(values, length * 3 / 8, length * 5 / 8);
      if (series % 3 == 0) forget(values, 0, length / 10);
      if (series % 5 == 0) forget(values, length * 9 / 10, length);
      const auto changes = find_changes(values, {});
      EXPECT_TRUE(changes.empty()) << length << " " << series << ": " << changes[0].at << " from "
                                   << changes[0].before << " to " << changes[0].after;
    }
}

TEST_F(Changes, a_gap_in_a_slow_wave_or_a_trend_is_none) {
  for (size_t series = 0; series < 40; ++series) {
    std::vector<double> wave(1200), trend(1200);
    for (size_t i = 0; i < wave.size(); ++i) {
      wave[i] = 40 + 30 * std::sin(2 * std::numbers::pi * static_cast<double>(i) / 800) + noise();
      trend[i] = 0.05 * static_cast<double>(i) + noise();
    }
    const size_t from = 100 + 20 * series;
    forget(wave, from, from + 100);
    forget(trend, from, from + 100);
    for (const auto& values : {wave, trend})
      for (const auto& change : find_changes(values, {}))
        EXPECT_TRUE(change.at + 10 < from || change.at > from + 110) << from << " " << change.at;
  }
}

TEST_F(Changes, a_level_that_differs_behind_a_gap_is_one) {
  std::vector<double> values(600);
  for (size_t i = 0; i < values.size(); ++i) values[i] = (i < 300 ? 10 : 20) + noise();
  forget(values, 250, 340);
  const auto changes = find_changes(values, {});
  ASSERT_EQ(changes.size(), 1);
  EXPECT_EQ(changes[0].at, 340) << "the first value that is known";
  EXPECT_NEAR(changes[0].before, 10, 0.5);
  EXPECT_NEAR(changes[0].after, 20, 0.5);
}

/// Now this, now that level, for as long as chance has it.
class Spells : public Changes {
 protected:
  double lasts(double usual) { return 1 + std::exponential_distribution<>(1 / usual)(engine_); }
  void add_spells(std::vector<double>& values, size_t until, double on, double off) {
    for (bool up = false; values.size() < until; up = !up)
      for (double left = lasts(up ? on : off); left > 0 && values.size() < until; --left)
        values.push_back((up ? 90 : 5) + noise());
  }
};

TEST_F(Spells, of_a_machine_that_is_on_and_off_are_none) {
  size_t told = 0;
  for (int series = 0; series < 40; ++series) {
    std::vector<double> values;
    add_spells(values, 1440, 20, 80);
    told += find_changes(values, {}).size();
  }
  EXPECT_LE(told, 4);
}

TEST_F(Spells, of_rain_are_none) {
  size_t told = 0;
  for (int series = 0; series < 40; ++series) {
    std::vector<double> values;
    for (bool rains = false; values.size() < 2000; rains = !rains) {
      const double heavy = lasts(3);
      for (double left = lasts(rains ? 6 : 60); left > 0 && values.size() < 2000; --left)
        values.push_back(rains ? std::round(heavy * lasts(1)) : 0);
    }
    told += find_changes(values, {}).size();
  }
  EXPECT_LE(told, 4);
}

TEST_F(Spells, that_become_far_more_are_one) {
  int right = 0, wrong = 0;
  for (int series = 0; series < 20; ++series) {
    std::vector<double> values;
    add_spells(values, 5000, 10, 60);
    add_spells(values, 10'000, 40, 30);
    for (const auto& change : find_changes(values, {}))
      ++(std::abs(static_cast<double>(change.at) - 5000) < 500 ? right : wrong);
  }
  EXPECT_GE(right, 14);
  EXPECT_LE(wrong, 3);
}

TEST_F(Spells, of_a_machine_that_rests_as_long_as_it_works_are_none) {
  size_t told = 0;
  for (int series = 0; series < 20; ++series) {
    std::vector<double> values;
    while (values.size() < 2000) {
      const size_t half = std::uniform_int_distribution<size_t>(10, 40)(engine_);
      for (size_t i = 0; i < 2 * half; ++i) values.push_back((i < half ? 100 : 0) + 0.5 * noise());
    }
    told += find_changes(values, {}).size();
  }
  EXPECT_EQ(told, 0);
}

TEST_F(Spells, of_which_more_and_more_is_work_are_one) {
  std::vector<double> values;
  while (values.size() < 1920) {
    const double work = values.size() < 1000 ? 0.5 : 0.7;
    const double turn = std::uniform_real_distribution<>(20, 80)(engine_);
    for (int i = 0; i < turn; ++i) values.push_back((i < work * turn ? 100 : 0) + noise());
  }
  const auto changes = find_changes(values, {});
  ASSERT_EQ(changes.size(), 1);
  EXPECT_NEAR(static_cast<double>(changes[0].at), 1000, 100);
}

TEST_F(Spells, of_which_there_are_a_few_hide_no_change) {
  for (const size_t spikes : {3, 4, 6})
    for (const double after : {0, 15, 50, 110}) {
      std::vector<double> values(1000);
      for (size_t i = 0; i < values.size(); ++i) values[i] = (i < 600 ? 10 : after) + noise();
      // Not at even steps, which were a cycle.
      for (size_t spike = 0; spike < spikes; ++spike)
        for (size_t i = 0; i < 20; ++i)
          values[530 * (spike * spike + spikes) / (spikes * spikes) + i] += 90;
      const auto changes = find_changes(values, {});
      ASSERT_EQ(changes.size(), 1) << spikes << " " << after;
      EXPECT_NEAR(static_cast<double>(changes[0].at), 600, 2);
      EXPECT_NEAR(changes[0].after, after, 1);
    }
}

TEST_F(Spells, of_which_there_are_two_are_told) {
  std::vector<double> values(1000);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = ((i >= 200 && i < 300) || (i >= 600 && i < 850) ? 4 : 0) + noise();
  EXPECT_EQ(find_changes(values, {}).size(), 4);
}

TEST_F(Changes, levels_that_are_ever_others_are_all_told) {
  std::vector<double> values;
  for (const double level : {10, 40, 22, 55, 3, 31, 70, 15, 60, 27})
    for (int i = 0; i < 100; ++i) values.push_back(level + noise());
  EXPECT_EQ(find_changes(values, {}).size(), 9);
}

TEST_F(Changes, days_that_are_not_all_as_busy_have_none) {
  size_t told = 0;
  for (size_t series = 0; series < 20; ++series) {
    std::vector<double> values = busy_days(3.3);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = 15 + (values[i] - 15) * (1 - 0.1 * static_cast<double>((i / 1440 + series) % 3)) +
                  noise();
    told += find_changes(values, {}).size();
  }
  EXPECT_LE(told, 2);
}

TEST_F(Changes, of_a_long_series_are_told_to_the_step) {
  std::vector<double> values(100'000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = (i < 61'000 ? 1 : 2) + 0.3 * noise();
  const auto changes = find_changes(values, {});
  ASSERT_EQ(changes.size(), 1);
  EXPECT_NEAR(static_cast<double>(changes[0].at), 61'000, 60);
}

TEST(FindChanges, a_reading_that_failed_is_no_level) {
  std::mt19937_64 engine(5);
  std::normal_distribution<> noise(10, 0.1);
  for (const double failed : {13.0, 20.0, 110.0, 99999.0, 0.0, -50.0})
    for (const size_t in_a_row : {1, 2, 4}) {
      std::vector<double> steady(1000), values;
      for (auto& value : steady) value = noise(engine);
      for (const size_t at : {size_t{0}, size_t{500}, steady.size() - in_a_row}) {
        values = steady;
        std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(at), in_a_row, failed);
        EXPECT_TRUE(find_changes(values, {}).empty()) << failed << " " << in_a_row << " at " << at;
      }
      values = steady;
      std::fill_n(values.begin() + 500, 5 * in_a_row, failed);
      values.resize(500 + 5 * in_a_row);
      EXPECT_EQ(find_changes(values, {}).size(), 1) << failed << ": it lasts";
    }
}

TEST(FindChanges, a_level_of_less_than_a_turn_is_told_as_it_is_in_the_data) {
  std::mt19937_64 engine(5);
  std::normal_distribution<> noise(0, 1);
  std::vector<double> values(480);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = 100 + 10 * std::sin(2 * M_PI * static_cast<double>(i) / 24) + noise(engine);
  std::fill(values.end() - 12, values.end(), 0);
  const auto changes = find_changes(values, find_cycles(values));
  ASSERT_EQ(changes.size(), 1);
  EXPECT_EQ(changes[0].after, 0);
  EXPECT_NEAR(changes[0].before, 100, 1);
}

TEST(FindChanges, a_reading_that_failed_hides_no_level) {
  std::mt19937_64 engine(5);
  std::normal_distribution<> noise(10, 0.1);
  std::vector<double> values(1000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = noise(engine) + (i < 700 ? 0 : 1);
  values[300] = 1e5;
  const auto changes = find_changes(values, {});
  ASSERT_EQ(changes.size(), 1);
  EXPECT_NEAR(static_cast<double>(changes[0].at), 700, 1);
}

}  // namespace
}  // namespace assay::analysis
