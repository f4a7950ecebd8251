// SPDX-License-Identifier: Apache-2.0
#include "cells.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <numeric>
#include <random>

#include <assay/base/csv.h>
#include <assay/base/files.h>

namespace assay::bench {
namespace {

constexpr int kOperators = 5;
constexpr std::array kEdgeColumns = {"e01", "e02", "e12", "e03", "e13", "e23"};

/// Nodes 1 and 2 may change places where no edge joins them.
Edges swapped(const Edges& e) {
  return {e[1], e[0], 0, e[3], e[5], e[4]};
}
Edges class_of(const Edges& edges) {
  return edges[2] == 0 ? std::min(edges, swapped(edges)) : edges;
}

/// Which edges get what depends on the input, and which lead to the output.
struct Reach {
  std::array<bool, 6> fed{};
  std::array<bool, 6> used{};
};
Reach reach_of(const Edges& e) {
  const bool one = e[0] > 0;
  const bool two = e[1] > 0 || (one && e[2] > 0);
  const bool two_used = e[5] > 0;
  const bool one_used = e[4] > 0 || (e[2] > 0 && two_used);
  return {{true, true, one, true, one, two}, {one_used, two_used, two_used, true, true, true}};
}
Edges live_of(const Edges& edges) {
  const Reach reach = reach_of(edges);
  Edges live{};
  for (size_t i = 0; i < edges.size(); ++i) live[i] = reach.fed[i] && reach.used[i] ? edges[i] : 0;
  return live;
}

/// All but the edges that lead to the output and get nothing of the input.
std::array<bool, 6> constants_left_out(const Reach& reach) {
  std::array<bool, 6> found{};
  for (size_t i = 0; i < found.size(); ++i) found[i] = reach.fed[i] || !reach.used[i];
  return found;
}

/// How many sums are made where edges meet.
std::array<double, 2> sums_of(const Edges& e) {
  const int two = (e[1] > 0) + (e[2] > 0);
  const int out = (e[3] > 0) + (e[4] > 0) + (e[5] > 0);
  return {static_cast<double>(std::max(two - 1, 0)), static_cast<double>(std::max(out - 1, 0))};
}

/// For each operator but nothing, how many of them are on edges that are not reached.
void add_unreached(const Edges& edges, const std::array<bool, 6>& reached,
                   std::vector<double>& numbers) {
  for (int op = 1; op < kOperators; ++op) {
    int count = 0;
    for (size_t i = 0; i < edges.size(); ++i)
      if (edges[i] == op && !reached[i]) ++count;
    numbers.push_back(count);
  }
}
void add_each(const Edges& edges, std::vector<double>& numbers) {
  for (const int edge : edges)
    for (int op = 0; op < kOperators; ++op) numbers.push_back(edge == op ? 1 : 0);
}

/// What adds up to a cell's time: its operators, wherever they are, and each on its edge, as the
/// cell is and without what does nothing.
std::vector<double> costs_of(const Edges& cell, std::vector<double> counts) {
  const Edges edges = class_of(cell);
  const Edges live = class_of(live_of(cell));
  const Reach reach = reach_of(edges);
  add_unreached(edges, reach.fed, counts);
  add_unreached(edges, constants_left_out(reach), counts);
  add_unreached(edges, reach.used, counts);
  add_each(edges, counts);
  add_each(live, counts);
  for (const auto& sums : {sums_of(edges), sums_of(live)})
    counts.insert(counts.end(), sums.begin(), sums.end());
  return counts;
}

using Columns = std::map<std::string, std::vector<double>>;

Result<Columns> read_columns(const std::string& file) {
  ASSAY_TRY(const auto text, read_file(file));
  CsvRows rows(text);
  std::vector<std::string> names;
  std::vector<std::string> cells;
  ASSAY_TRY(const bool any, rows.next(names));
  if (!any) return bad_input(fmt::format("{} is empty", file));
  Columns columns;
  for (;;) {
    ASSAY_TRY(const bool more, rows.next(cells));
    if (!more) return columns;
    if (cells.size() != names.size())
      return bad_input(fmt::format("{}:{}: not as many cells as names", file, rows.line()));
    for (size_t i = 0; i < names.size(); ++i)
      columns[names[i]].push_back(std::strtod(cells[i].c_str(), nullptr));
  }
}

predict::Grid grid_of(const std::vector<std::vector<double>>& rows) {
  predict::Grid grid(rows.size(), rows.empty() ? 0 : rows[0].size());
  for (size_t row = 0; row < rows.size(); ++row)
    std::copy(rows[row].begin(), rows[row].end(),
              grid.values.begin() + static_cast<ptrdiff_t>(row * grid.columns));
  return grid;
}

/// Counts, depths and sums of a row of costs, around zero and in units of their deviation.
predict::Grid summary_of(const predict::Grid& costs) {
  std::vector<size_t> columns = {0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11};
  for (size_t i = 4; i > 0; --i) columns.push_back(costs.columns - i);
  const auto count = static_cast<double>(costs.rows);
  predict::Grid found(costs.rows, columns.size());
  for (size_t column = 0; column < columns.size(); ++column) {
    double mean = 0;
    double squares = 0;
    for (size_t row = 0; row < costs.rows; ++row) mean += costs.at(row, columns[column]) / count;
    for (size_t row = 0; row < costs.rows; ++row)
      squares += std::pow(costs.at(row, columns[column]) - mean, 2) / count;
    for (size_t row = 0; row < costs.rows; ++row)
      found.at(row, column) = (costs.at(row, columns[column]) - mean) / std::sqrt(squares);
  }
  return found;
}

}  // namespace

Result<Cells> read_cells(const std::string& file) {
  ASSAY_TRY(auto columns, read_columns(file));
  Cells cells;
  std::vector<std::vector<double>> costs;
  std::vector<std::vector<double>> features;
  for (size_t row = 0; row < columns["e01"].size(); ++row) {
    const auto number = [&](const char* name) { return columns[name].at(row); };
    Edges edges{};
    for (size_t i = 0; i < edges.size(); ++i) edges[i] = static_cast<int>(number(kEdgeColumns[i]));
    std::vector<double> counts;
    for (const char* name :
         {"n_none", "n_skip", "n_conv1x1", "n_conv3x3", "n_avgpool", "live_skip", "live_conv1x1",
          "live_conv3x3", "live_avgpool", "connected", "conv_depth", "op_depth"})
      counts.push_back(number(name));
    cells.edges.push_back(edges);
    cells.classes.push_back(fmt::format("{}", fmt::join(class_of(edges), "")));
    cells.connected.push_back(number("connected") > 0);
    costs.push_back(costs_of(edges, std::move(counts)));
    features.push_back(costs.back());
    features.back().push_back(number("macs") * 1e-8);
    features.back().push_back(number("live_macs") * 1e-8);
  }
  cells.costs = grid_of(costs);
  cells.features = grid_of(features);
  cells.summary = summary_of(cells.costs);
  for (auto& [name, times] : columns) {
    if (!name.starts_with("lat_")) continue;
    cells.devices.push_back(name.substr(4));
    cells.times.push_back(std::move(times));
  }
  return cells;
}

std::vector<std::pair<size_t, size_t>> twins(const Cells& cells) {
  std::map<Edges, size_t> places;
  for (size_t i = 0; i < cells.edges.size(); ++i) places[cells.edges[i]] = i;
  std::vector<std::pair<size_t, size_t>> found;
  for (size_t i = 0; i < cells.edges.size(); ++i) {
    if (cells.edges[i][2] != 0) continue;
    const auto other = places.find(swapped(cells.edges[i]));
    if (other != places.end() && i < other->second) found.emplace_back(i, other->second);
  }
  return found;
}

double repeat_noise(const Cells& cells, size_t device, bool only_connected) {
  const auto& times = cells.times[device];
  double sum = 0;
  size_t count = 0;
  for (const auto& [a, b] : twins(cells)) {
    if (only_connected && !cells.connected[a]) continue;
    sum += std::abs(times[a] - times[b]) / ((times[a] + times[b]) / 2) / std::sqrt(2.0);
    ++count;
  }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

const char* kind_of(const Cells& cells, size_t cell) {
  return cells.connected[cell] ? "connected" : "not";
}

std::vector<size_t> shuffled(size_t count, uint64_t seed) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 random(seed);
  for (size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  return order;
}

}  // namespace assay::bench
