// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <random>

#include <assay/predict/folds.h>

namespace assay::predict {
namespace {

struct Group {
  std::string name;
  std::vector<size_t> rows;
};

std::vector<Group> groups_of(std::span<const std::string> group_of_row) {
  std::map<std::string, std::vector<size_t>> by_name;
  for (size_t row = 0; row < group_of_row.size(); ++row) by_name[group_of_row[row]].push_back(row);
  std::vector<Group> groups;
  for (auto& [name, rows] : by_name) groups.push_back({name, std::move(rows)});
  return groups;
}

/// As std::shuffle, which differs from library to library.
void shuffle(std::vector<Group>& groups, uint64_t seed) {
  std::mt19937_64 random(seed);
  for (size_t i = groups.size(); i > 1; --i) std::swap(groups[i - 1], groups[random() % i]);
}

}  // namespace

std::vector<size_t> grouped_folds(std::span<const std::string> group_of_row, size_t count,
                                  uint64_t seed) {
  auto groups = groups_of(group_of_row);
  shuffle(groups, seed);
  // The largest first, each into the fold that has least so far.
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.rows.size() > b.rows.size(); });
  std::vector<size_t> sizes(count);
  std::vector<size_t> fold_of_row(group_of_row.size());
  for (const auto& group : groups) {
    const auto least = std::min_element(sizes.begin(), sizes.end());
    for (const size_t row : group.rows)
      fold_of_row[row] = static_cast<size_t>(least - sizes.begin());
    *least += group.rows.size();
  }
  return fold_of_row;
}

}  // namespace assay::predict
