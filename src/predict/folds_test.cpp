// SPDX-License-Identifier: Apache-2.0
#include "trial.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

#include <assay/predict/folds.h>
#include <gtest/gtest.h>

namespace assay::predict {
namespace {

std::vector<std::string> some_groups() {
  std::vector<std::string> groups;
  for (int group = 0; group < 40; ++group)
    for (int row = 0; row <= group % 4; ++row) groups.push_back(fmt::format("g{}", group));
  return groups;
}

TEST(Folds, keep_groups_together_and_are_of_one_size) {
  const auto groups = some_groups();
  const auto folds = grouped_folds(groups, 10, 1);
  ASSERT_EQ(folds.size(), groups.size());
  std::map<std::string, std::set<size_t>> by_group;
  std::map<size_t, size_t> sizes;
  for (size_t row = 0; row < groups.size(); ++row) {
    by_group[groups[row]].insert(folds[row]);
    ++sizes[folds[row]];
  }
  for (const auto& [group, found] : by_group) EXPECT_EQ(found.size(), 1U) << group;
  EXPECT_EQ(sizes.size(), 10U);
  for (const auto& [fold, size] : sizes) EXPECT_EQ(size, 10U) << fold;
}

TEST(Folds, are_the_same_for_the_same_seed_alone) {
  const auto groups = some_groups();
  EXPECT_EQ(grouped_folds(groups, 10, 1), grouped_folds(groups, 10, 1));
  EXPECT_NE(grouped_folds(groups, 10, 1), grouped_folds(groups, 10, 2));
}

TEST(Folds, of_fewer_groups_than_folds_leave_some_empty) {
  const std::vector<std::string> groups = {"a", "b", "a"};
  const auto folds = grouped_folds(groups, 5, 1);
  EXPECT_EQ(folds[0], folds[2]);
  EXPECT_NE(folds[0], folds[1]);
}

TEST(Folds, forms_of_one_network_that_differ_in_sizes_alone_stay_together) {
  Runs runs;
  for (size_t i = 0; i < 20; ++i) {
    RunModel model;
    model.name = fmt::format("net{}[sequence={}]", i / 4, 64 * (i % 4 + 1));
    model.family = "net";
    runs.models.push_back(model);
    predict::Run run;
    run.model = i;
    runs.runs.push_back(run);
  }
  const auto folds = make_folds(runs, 0);
  EXPECT_FALSE(folds.by_family);
  EXPECT_EQ(folds.count, 5U) << "networks";
  for (size_t i = 0; i < 20; ++i) EXPECT_EQ(folds.of_run[i], folds.of_run[i / 4 * 4]) << i;
}

}  // namespace
}  // namespace assay::predict
