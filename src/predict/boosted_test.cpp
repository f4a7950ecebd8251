// SPDX-License-Identifier: Apache-2.0
#include "boosted.h"

#include "by_sources.h"

#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace assay::predict {
namespace {

/// From 0 to 1, the same on every machine.
class Draw {
 public:
  explicit Draw(uint64_t seed) : random_(seed) {}
  double operator()() { return static_cast<double>(random_() >> 11U) * 0x1p-53; }

 private:
  std::mt19937_64 random_;
};

/// Two costs add up; where the feature is above a half it takes half as long again.
ManyTimes many_times(size_t count, uint64_t seed) {
  Draw draw(seed);
  ManyTimes times{Grid(count, 2), Grid(count, 2), {}, {}, {}};
  for (size_t i = 0; i < count; ++i) {
    for (size_t cost = 0; cost < 2; ++cost) times.costs.at(i, cost) = std::floor(6 * draw());
    times.features.at(i, 0) = draw();
    times.features.at(i, 1) = draw();
    const double factor = times.features.at(i, 0) > 0.5 ? 1.5 : 1;
    times.seconds.push_back(factor * (1 + 2 * times.costs.at(i, 0) + 0.5 * times.costs.at(i, 1)));
    times.groups.push_back(fmt::format("g{}", i / 2));
    times.kinds.emplace_back("usual");
  }
  return times;
}
double mean_error(const Boosted& learned, const ManyTimes& times) {
  const auto told = learned.tell(times.costs, times.features, times.kinds);
  double sum = 0;
  for (size_t i = 0; i < told.size(); ++i)
    sum += std::abs(std::exp(told[i]) / times.seconds[i] - 1);
  return sum / static_cast<double>(told.size());
}

TEST(Additive, finds_what_costs_take_in_spite_of_wrong_times) {
  auto times = many_times(200, 1);
  for (size_t i = 0; i < 200; ++i)
    times.seconds[i] = 3 + 2 * times.costs.at(i, 0) - 0.2 * times.costs.at(i, 1);
  for (size_t i = 0; i < 200; i += 20) times.seconds[i] *= 3;
  const Additive found = fit_additive(times.costs, times.seconds, 1e-9);
  ASSERT_EQ(found.coefficients.size(), 3U);
  EXPECT_NEAR(found.coefficients[0], 3, 0.05);
  EXPECT_NEAR(found.coefficients[1], 2, 0.05);
  EXPECT_NEAR(found.coefficients[2], -0.2, 0.02);
  EXPECT_NEAR(seconds_of(found, std::vector<double>{0, 1000}), 0.9 * 2, 0.01)
      << "never less than nine tenths of the shortest";
}

TEST(Boosted, trees_tell_what_does_not_add_up) {
  const auto learned = Boosted::learn(many_times(600, 2));
  ASSERT_TRUE(learned) << learned.error().message;
  EXPECT_LT(mean_error(*learned, many_times(300, 3)), 0.02);
}

TEST(Boosted, what_adds_up_exactly_needs_no_trees) {
  auto times = many_times(200, 4);
  for (size_t i = 0; i < 200; ++i) times.seconds[i] = 1 + times.costs.at(i, 0);
  const auto learned = *Boosted::learn(times);
  EXPECT_LT(mean_error(learned, times), 1e-6);
}

TEST(Boosted, a_kind_that_behaves_apart_is_told_apart) {
  const auto apart = [](ManyTimes times) {
    for (size_t i = 0; i < times.seconds.size(); i += 10) {
      times.kinds[i] = "empty";
      times.seconds[i] = times.features.at(i, 1) > 0.5 ? 0.002 : 0.001;
    }
    return times;
  };
  const auto learned = *Boosted::learn(apart(many_times(600, 5)));
  EXPECT_LT(mean_error(learned, apart(many_times(300, 6))), 0.04);
  auto unknown = many_times(300, 6);
  for (auto& kind : unknown.kinds) kind = "never seen";
  EXPECT_LT(mean_error(learned, unknown), 0.04) << "as the usual one";
}

TEST(Boosted, is_the_same_each_time) {
  const auto times = many_times(100, 7);
  const auto told = [&] {
    return Boosted::learn(times)->tell(times.costs, times.features, times.kinds);
  };
  EXPECT_EQ(told(), told());
}

TEST(Boosted, refuses_what_it_could_make_nothing_of) {
  EXPECT_FALSE(Boosted::learn(many_times(39, 8)));
  auto nothing = many_times(100, 8);
  nothing.costs.at(3, 0) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(Boosted::learn(nothing));
  auto no_time = many_times(100, 8);
  no_time.seconds[5] = 0;
  EXPECT_FALSE(Boosted::learn(no_time));
  auto one_group = many_times(100, 8);
  for (auto& group : one_group.groups) group = "all";
  EXPECT_FALSE(Boosted::learn(one_group));
}

TEST(BySources, a_mix_of_known_devices_is_told_by_few_runs) {
  Draw draw(9);
  Grid sources(3, 200);
  for (double& time : sources.values) time = 1 + draw();
  Grid features(200, 1);
  for (double& feature : features.values) feature = draw() - 0.5;
  const auto actual = [&](size_t item) {
    return 5 * (0.7 * sources.at(0, item) + 0.3 * sources.at(2, item));
  };
  std::vector<SecondsOf> runs;
  for (size_t item = 0; item < 200; item += 20) runs.push_back({item, actual(item)});
  const auto told = tell_by_sources(sources, features, {}, runs);
  ASSERT_EQ(told.size(), 200U);
  double sum = 0;
  for (size_t item = 0; item < 200; ++item) sum += std::abs(told[item] / actual(item) - 1) / 200;
  EXPECT_LT(sum, 0.02);
}

}  // namespace
}  // namespace assay::predict
