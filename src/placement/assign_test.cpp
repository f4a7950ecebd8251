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
    names += places[i] ? rankings[i].devices[*places[i]].candidate.node.name : "-";
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

TEST(Assign, is_as_good_as_trying_everything) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> draw(.05, 1);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<std::vector<double>> seconds(4, std::vector<double>(3));
    for (auto& model : seconds) {
      for (auto& time : model) time = draw(random);
    }
    double least = std::numeric_limits<double>::infinity();
    for (int code = 0; code < 81; ++code) {
      std::string nodes;
      for (int rest = code, i = 0; i < 4; ++i, rest /= 3)
        nodes += static_cast<char>('0' + rest % 3);
      least = std::min(least, cost_of(seconds, nodes));
    }
    EXPECT_LE(cost_of(seconds, nodes_of(rankings_of(seconds))), least * 1.0001) << trial;
  }
}

TEST(Assign, many_models_are_spread_well_in_bounded_time) {
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
