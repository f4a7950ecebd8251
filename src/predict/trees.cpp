// SPDX-License-Identifier: Apache-2.0
#include "trees.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace assay::predict {

using nlohmann::json;
namespace {
constexpr float kNever = std::numeric_limits<float>::quiet_NaN();
constexpr size_t kTogether = 16;  ///< rows whose walks are long enough to hide each other's waits

// In rows as walks read them a column has two places, one for splits that send what is missing to
// the left and one for those that send it to the right: it is the least number there is, or the
// largest, and a walk need not ask whether there is one.
constexpr float kMost = std::numeric_limits<float>::infinity();
constexpr float kLeast = -std::numeric_limits<float>::infinity();
constexpr uint32_t kPlaces = 2;
void put_places(std::span<const float> row, float* places) {
  for (const float value : row) {
    places[0] = places[1] = value;
    if (std::isnan(value)) {
      places[0] = kLeast;
      places[1] = kMost;
    }
    places += kPlaces;
  }
}

float as_float(double value) {
  if (!(std::abs(value) <= static_cast<double>(std::numeric_limits<float>::max())))
    throw std::out_of_range("a number is too large");
  return static_cast<float>(value);
}
}  // namespace

/// Reads one tree after the other into the flat list. Children are put side by side.
class TreeReader {
 public:
  explicit TreeReader(Trees& trees) : trees_(trees) {}

  void add(const json& tree) {
    read(tree);
    Trees::Root root{static_cast<uint32_t>(trees_.nodes_.size()), 0};
    trees_.nodes_.emplace_back();
    std::vector<Open> open = {{0, root.node, 0}};
    for (size_t placed = 1; !open.empty();) {
      const Open now = open.back();
      open.pop_back();
      root.depth = std::max(root.depth, now.depth);
      if (!put(now)) continue;
      placed += 2;
      if (placed > left_.size()) throw std::out_of_range("its nodes go round in a circle");
      const size_t first = trees_.nodes_.size();
      trees_.nodes_.resize(first + 2);
      open.push_back({static_cast<size_t>(left_.at(now.source)), first, now.depth + 1});
      open.push_back({static_cast<size_t>(right_.at(now.source)), first + 1, now.depth + 1});
    }
    trees_.roots_.push_back(root);
  }

 private:
  /// A node that is still to be put in its place.
  struct Open {
    size_t source = 0;
    size_t place = 0;
    uint32_t depth = 0;
  };

  void read(const json& tree) {
    left_ = tree.at("left_children").get<std::vector<int>>();
    right_ = tree.at("right_children").get<std::vector<int>>();
    columns_ = tree.at("split_indices").get<std::vector<uint32_t>>();
    values_.clear();
    for (const double value : tree.at("split_conditions").get<std::vector<double>>())
      values_.push_back(as_float(value));
    missing_left_ = tree.at("default_left").get<std::vector<int>>();
    for (const auto& kind : tree.value("split_type", json::array()))
      if (kind.get<int>() != 0) throw std::out_of_range("it splits by categories");
  }

  /// Whether it has children.
  bool put(const Open& open) {
    const bool leaf = left_.at(open.source) < 0;
    Trees::Node& node = trees_.nodes_[open.place];
    const float value = values_.at(open.source);
    const uint32_t column = columns_.at(open.source);
    const uint32_t missing_right = missing_left_.at(open.source) == 0 ? 1 : 0;
    if (leaf) {
      node = {kNever, 0, static_cast<uint32_t>(open.place), value};
      return false;
    }
    if (column >= trees_.columns_) throw std::out_of_range("it asks for a column too many");
    const uint32_t place = kPlaces * column + missing_right;
    node = {value, place, static_cast<uint32_t>(trees_.nodes_.size()), 0};
    return true;
  }

  Trees& trees_;
  std::vector<int> left_;
  std::vector<int> right_;
  std::vector<uint32_t> columns_;
  std::vector<float> values_;
  std::vector<int> missing_left_;
};

namespace {

/// XGBoost writes the numbers of its parameters as text.
double number_of(const json& parameters, const char* name) {
  const auto& text = parameters.at(name).get_ref<const std::string&>();
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    throw std::out_of_range(fmt::format("{} is no number", name));
  return number;
}

constexpr std::array kPlain = {"reg:squarederror", "reg:absoluteerror", "reg:pseudohubererror"};

void check_kind(const json& learner) {
  const auto& objective = learner.at("objective").at("name").get_ref<const std::string&>();
  if (std::find(kPlain.begin(), kPlain.end(), objective) == kPlain.end())
    throw std::out_of_range(fmt::format("its objective {} is none that tells a number", objective));
  if (learner.at("gradient_booster").at("name") != "gbtree")
    throw std::out_of_range("its booster is not gbtree");
}

}  // namespace

Result<Trees> Trees::parse(const json& document) {
  try {
    const json& learner = document.at("learner");
    check_kind(learner);
    Trees trees;
    const json& parameters = learner.at("learner_model_param");
    trees.start_ = as_float(number_of(parameters, "base_score"));
    const double columns = number_of(parameters, "num_feature");
    if (!(columns >= 1 && columns <= 1e6)) throw std::out_of_range("it has no columns");
    trees.columns_ = static_cast<size_t>(columns);
    TreeReader reader(trees);
    for (const auto& tree : learner.at("gradient_booster").at("model").at("trees"))
      reader.add(tree);
    return trees;
  } catch (const std::exception& error) {
    return bad_input(fmt::format("no model of XGBoost's that can be read: {}", error.what()));
  }
}

float Trees::tell(std::span<const float> row) const {
  float told = 0;
  tell(row.first(columns_), std::span(&told, 1));
  return told;
}

void Trees::tell(std::span<const float> rows, std::span<float> told) const {
  const size_t width = kPlaces * columns_;
  std::vector<float> places(std::min(kTogether, told.size()) * width);
  std::array<uint32_t, kTogether> at{};
  for (size_t begin = 0; begin < told.size(); begin += kTogether) {
    const size_t count = std::min(kTogether, told.size() - begin);
    for (size_t i = 0; i < count; ++i) {
      put_places(rows.subspan((begin + i) * columns_, columns_), places.data() + i * width);
      told[begin + i] = start_;
    }
    for (const Root root : roots_) {
      at.fill(root.node);
      for (uint32_t step = 0; step < root.depth; ++step)
        for (size_t i = 0; i < count; ++i) {
          const Node& node = nodes_[at[i]];
          // Without a branch: which way it goes is anyone's guess.
          const bool right = places[i * width + node.place] >= node.condition;
          at[i] = node.left + static_cast<uint32_t>(right);
        }
      for (size_t i = 0; i < count; ++i) told[begin + i] += nodes_[at[i]].value;
    }
  }
}

}  // namespace assay::predict
