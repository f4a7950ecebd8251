// SPDX-License-Identifier: Apache-2.0
#include "testing/fleet.h"

#include <algorithm>
#include <limits>
#include <random>

#include <assay/placement/assign.h>
#include <gtest/gtest.h>

namespace assay::placement {
namespace {

using testing::candidate;

/// For each model its seconds on nodes "0", "1", ...
std::vector<Ranking> rankings_of(const std::vector<std::vector<double>>& seconds) {
  std::vector<Ranking> rankings;
  for (const auto& model : seconds) {
    Candidates candidates;
    for (size_t node = 0; node < model.size(); ++node)
      candidates.list.push_back(candidate(std::to_string(node), model[node]));
    rankings.push_back(rank(candidates, {}));
  }
  return rankings;
}

/// Names of the nodes, one character each.
std::string nodes_of(const std::vector<Ranking>& rankings) {
  std::string names;
  const auto places = assign(rankings);
  for (size_t i = 0; i < places.size(); ++i)
    names += places[i].device ? rankings[i].devices[*places[i].device].candidate.node.name : "-";
  return names;
}

double cost_of(const std::vector<std::vector<double>>& seconds, const std::string& nodes) {
  double total = 0;
  for (char node = '0'; node < static_cast<char>('0' + seconds[0].size()); ++node) {
    double sum = 0;
    double count = 0;
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i] != node) continue;
      sum += seconds[i][static_cast<size_t>(node - '0')];
      count += 1;
    }
    total += sum * count;
  }
  return total;
}

TEST(Assign, one_model_goes_to_its_fastest) {
  EXPECT_EQ(nodes_of(rankings_of({{.3, .1, .2}})), "1");
}

TEST(Assign, two_models_do_not_share_the_fastest_when_another_is_nearly_as_fast) {
  const auto nodes = nodes_of(rankings_of({{.10, .12}, {.10, .12}}));
  EXPECT_NE(nodes[0], nodes[1]);
  // But they do when the other one is far slower.
  EXPECT_EQ(nodes_of(rankings_of({{.1, 9}, {.1, 9}})), "00");
}

TEST(Assign, memory_is_shared_too) {
  auto rankings = rankings_of({{.1, 9}, {.1, 9}});
  for (auto& ranking : rankings) {
    for (auto& device : ranking.devices) {
      device.candidate.memory_needed = 3e9;
      device.candidate.node.memory_available = 4e9;
    }
  }
  const auto nodes = nodes_of(rankings);
  EXPECT_NE(nodes[0], nodes[1]);
}

TEST(Assign, a_model_without_room_goes_nowhere) {
  auto rankings = rankings_of({{.1, .2}, {.1, .2}});
  for (auto& device : rankings[0].devices) device.possible = false;
  EXPECT_EQ(nodes_of(rankings), "-0");
}

std::vector<std::vector<double>> drawn(size_t models, size_t nodes, std::mt19937& random) {
  std::uniform_real_distribution<double> draw(.05, 1);
  std::vector<std::vector<double>> seconds(models, std::vector<double>(nodes));
  for (auto& model : seconds) {
    for (auto& time : model) time = draw(random);
  }
  return seconds;
}

/// The least of all ways.
double least_cost(const std::vector<std::vector<double>>& seconds) {
  const size_t nodes = seconds[0].size();
  std::string way(seconds.size(), '0');
  double least = std::numeric_limits<double>::infinity();
  while (true) {
    least = std::min(least, cost_of(seconds, way));
    size_t at = 0;
    while (at < way.size() && way[at] == static_cast<char>('0' + nodes - 1)) way[at++] = '0';
    if (at == way.size()) return least;
    ++way[at];
  }
}

TEST(Assign, a_few_models_are_placed_as_well_as_possible) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 50; ++trial) {
    const auto seconds = drawn(4, 3, random);
    EXPECT_NEAR(cost_of(seconds, nodes_of(rankings_of(seconds))), least_cost(seconds), 1e-9)
        << trial;
  }
}

TEST(Assign, more_models_than_can_all_be_tried_are_placed_nearly_as_well) {
  std::mt19937 random(7);
  double sum = 0;
  for (int trial = 0; trial < 8; ++trial) {
    const auto seconds = drawn(7, 4, random);
    const double ratio = cost_of(seconds, nodes_of(rankings_of(seconds))) / least_cost(seconds);
    EXPECT_LT(ratio, 1.15) << trial;
    sum += ratio;
  }
  EXPECT_LT(sum / 8, 1.05);
}

TEST(Assign, a_model_that_takes_for_ever_still_has_a_place) {
  EXPECT_EQ(nodes_of(rankings_of({{1e300, 1e200}, {.1, .2}})), "10");
}

TEST(Assign, those_that_share_a_node_are_told_to_take_longer) {
  const auto assigned = assign(rankings_of({{.1, 9}, {.2, 9}}));
  EXPECT_EQ(assigned[0].models, 2U);
  EXPECT_NEAR(assigned[0].seconds, .2, 1e-12);
  EXPECT_NEAR(assigned[1].seconds, .4, 1e-12);
}

TEST(Assign, many_models_are_spread_well) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> draw(.9, 1.1);
  std::vector<std::vector<double>> seconds(30, std::vector<double>(10));
  for (auto& model : seconds) {
    for (auto& time : model) time = draw(random);
  }
  const std::string nodes = nodes_of(rankings_of(seconds));
  // Three on each node; their times cannot be below .9.
  for (char node = '0'; node <= '9'; ++node)
    EXPECT_EQ(std::count(nodes.begin(), nodes.end(), node), 3) << nodes;
  EXPECT_LT(cost_of(seconds, nodes), 3 * 30 * .97);
}

}  // namespace
}  // namespace assay::placement
