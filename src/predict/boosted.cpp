// SPDX-License-Identifier: Apache-2.0
#include "boosted.h"

#include "boost_losses.h"
#include "statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <numeric>

#include <assay/predict/folds.h>

namespace assay::predict {
namespace {

constexpr double kDeviation = 1.4826;  ///< of a normal distribution, by its median
constexpr double kLeastScale = 1e-6;
constexpr double kMostScale = 1;
constexpr double kWorst = 3;         ///< relative errors above count as this when ways are compared
constexpr size_t kHeldBack = 4;      ///< one part of so many
constexpr size_t kLeastOfKind = 20;  ///< items, for trees of its own
constexpr double kExact = 1e-4;      ///< relative error of a base that needs no trees
constexpr uint64_t kSeeds = 2;
constexpr size_t kBest = 2;
constexpr std::array<double, 3> kRidges = {1e-9, 1e-5, 1e-3};

/// How trees are grown on what is above the base.
struct Way {
  bool relative = false;  ///< the loss
  double bend = 1;
  BoostSettings settings;
};
constexpr std::array<Way, 5> kWays = {{
    {true, .1, {.rounds = 200, .depth = 6, .column_share = .5}},
    {true, .1, {.rounds = 150, .depth = 3, .column_share = .5}},
    {false, .5, {.rounds = 300, .depth = 6, .least_weight = 3}},
    {false, .3, {.rounds = 400, .depth = 4, .least_weight = 10}},
    {false, 1, {.rounds = 250, .depth = 6, .least_weight = 3}},
}};
constexpr Way kTogether = kWays[4];  ///< all kinds by one
constexpr Way kAlone = {true, .1, {.rounds = 100, .depth = 3, .rate = .1, .least_weight = 1}};

using Indices = std::vector<size_t>;

Grid rows_of(const Grid& grid, const Indices& rows) {
  Grid part(rows.size(), grid.columns);
  for (size_t row = 0; row < rows.size(); ++row)
    std::copy_n(grid.row(rows[row]).begin(), grid.columns,
                part.values.begin() + static_cast<ptrdiff_t>(row * grid.columns));
  return part;
}

/// Some of the items.
struct Some {
  Grid costs;
  Grid features;
  std::vector<double> seconds;
};
Some some_of(const ManyTimes& times, const Indices& items) {
  Some some{rows_of(times.costs, items), rows_of(times.features, items), {}};
  for (const size_t item : items) some.seconds.push_back(times.seconds[item]);
  return some;
}

double error_of(const std::vector<double>& told_logs, const std::vector<double>& seconds) {
  double sum = 0;
  for (size_t i = 0; i < seconds.size(); ++i)
    sum += std::min(std::abs(std::exp(told_logs[i]) / seconds[i] - 1), kWorst);
  return sum / static_cast<double>(std::max<size_t>(seconds.size(), 1));
}

std::vector<double> base_logs(const Additive& base, const Grid& costs) {
  std::vector<double> logs;
  for (size_t row = 0; row < costs.rows; ++row)
    logs.push_back(std::log(seconds_of(base, costs.row(row))));
  return logs;
}

/// A base and, above it, trees that are still XGBoost's.
struct Grown {
  Additive base;
  double scale = 1;
  std::optional<Booster> booster;

  Result<std::vector<double>> tell(const Some& asked) const {
    auto logs = base_logs(base, asked.costs);
    if (!booster) return logs;
    ASSAY_TRY(const auto above, booster->tell(asked.features));
    for (size_t i = 0; i < logs.size(); ++i) logs[i] += scale * static_cast<double>(above[i]);
    return logs;
  }
};

Result<Grown> grow(const Some& known, Additive base, const Way& way, uint64_t seed) {
  auto labels = base_logs(base, known.costs);
  std::vector<double> sizes;
  for (size_t i = 0; i < labels.size(); ++i) {
    labels[i] = std::log(known.seconds[i]) - labels[i];
    sizes.push_back(std::abs(labels[i]));
  }
  const double scale = std::min(kDeviation * median(std::move(sizes)) + kLeastScale, kMostScale);
  for (double& label : labels) label /= scale;
  BoostSettings settings = way.settings;
  settings.seed = seed;
  ASSAY_TRY(auto booster, Booster::train(known.features,
                                         way.relative ? relative_loss(labels, scale, way.bend)
                                                      : log_loss(labels, way.bend),
                                         settings));
  return Grown{std::move(base), scale, std::move(booster)};
}

/// The same for all items.
Additive constant_base(const Some& known) {
  Additive base{std::vector<double>(known.costs.columns + 1), 0};
  base.coefficients[0] = median(known.seconds);
  return base;
}

}  // namespace

/// Learns the usual kind together with those that are not apart from it.
class BoostedLearner {
 public:
  BoostedLearner(const ManyTimes& times, uint64_t seed)
      : times_(times), seed_(seed), fold_of_(grouped_folds(times.groups, kHeldBack, seed)) {
    for (size_t item = 0; item < times.kinds.size(); ++item)
      kinds_[times.kinds[item]].push_back(item);
  }

  Result<Boosted> run() {
    const auto most = std::max_element(kinds_.begin(), kinds_.end(), [](auto& a, auto& b) {
      return a.second.size() < b.second.size();
    });
    found_.usual_ = most->first;
    Indices usual = most->second;
    for (const auto& [kind, items] : kinds_) {
      if (kind == found_.usual_) continue;
      ASSAY_TRY(const bool apart, is_apart(items));
      if (!apart) {
        usual.insert(usual.end(), items.begin(), items.end());
        continue;
      }
      ASSAY_TRY(const auto grown, grow_alone(items));
      ASSAY_CHECK(keep(kind, grown));
    }
    std::sort(usual.begin(), usual.end());
    ASSAY_CHECK(learn_usual(usual));
    return std::move(found_);
  }

 private:
  Indices held(const Indices& items, bool back) const {
    Indices some;
    for (const size_t item : items)
      if ((fold_of_[item] == 0) == back) some.push_back(item);
    return some;
  }

  Result<void> keep(const std::string& kind, const Grown& grown) {
    Boosted::Member member{grown.base, grown.scale, {}};
    if (grown.booster) {
      ASSAY_TRY(const auto text, grown.booster->text());
      ASSAY_TRY(member.trees, Trees::parse(nlohmann::json::parse(text)));
    }
    found_.parts_[kind].push_back(std::move(member));
    return {};
  }

  /// The ridge with the best base.
  static double best_ridge(const Some& known, const Some& asked, double& least) {
    double best = kRidges[0];
    least = HUGE_VAL;
    for (const double ridge : kRidges) {
      const auto base = fit_additive(known.costs, known.seconds, ridge);
      const double error = error_of(base_logs(base, asked.costs), asked.seconds);
      if (error >= least) continue;
      least = error;
      best = ridge;
    }
    return best;
  }

  Result<void> learn_usual(const Indices& items) {
    const Some known = some_of(times_, held(items, false));
    const Some asked = some_of(times_, held(items, true));
    if (known.seconds.empty() || asked.seconds.empty())
      return bad_input("trees need times of more groups than one");
    double error = 0;
    const double ridge = best_ridge(known, asked, error);
    const Some all = some_of(times_, items);
    const Additive base = fit_additive(all.costs, all.seconds, ridge);
    if (error < kExact) return keep(found_.usual_, {base, 1, {}});
    ASSAY_TRY(const auto ways, best_ways(known, asked, ridge, error));
    for (const Way* way : ways) {
      if (way == nullptr) ASSAY_CHECK(keep(found_.usual_, {base, 1, {}}));
      for (uint64_t i = 0; way != nullptr && i < kSeeds; ++i) {
        ASSAY_TRY(const auto grown, grow(all, base, *way, seed_ + i));
        ASSAY_CHECK(keep(found_.usual_, grown));
      }
    }
    return {};
  }

  /// The best of all ways, and of none: nullptr.
  Result<std::vector<const Way*>> best_ways(const Some& known, const Some& asked, double ridge,
                                            double base_error) const {
    const Additive base = fit_additive(known.costs, known.seconds, ridge);
    std::vector<std::pair<double, const Way*>> tried = {{base_error, nullptr}};
    for (const Way& way : kWays) {
      ASSAY_TRY(const auto grown, grow(known, base, way, seed_));
      ASSAY_TRY(const auto told, grown.tell(asked));
      tried.emplace_back(error_of(told, asked.seconds), &way);
    }
    std::stable_sort(tried.begin(), tried.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<const Way*> best;
    for (size_t i = 0; i < kBest; ++i) best.push_back(tried[i].second);
    return best;
  }

  /// Whether trees of its own told a kind better than one model of all.
  Result<bool> is_apart(const Indices& items) const {
    const Indices back = held(items, true);
    const Indices own = held(items, false);
    if (items.size() < kLeastOfKind || back.empty() || own.empty()) return false;
    Indices all(times_.seconds.size());
    std::iota(all.begin(), all.end(), 0);
    const Some asked = some_of(times_, back);
    const Some known = some_of(times_, held(all, false));
    ASSAY_TRY(const auto together,
              grow(known, fit_additive(known.costs, known.seconds, kRidges[1]), kTogether, seed_));
    ASSAY_TRY(const auto alone, grow_alone(own));
    ASSAY_TRY(const auto told_together, together.tell(asked));
    ASSAY_TRY(const auto told_alone, alone.tell(asked));
    return error_of(told_alone, asked.seconds) < error_of(told_together, asked.seconds);
  }
  Result<Grown> grow_alone(const Indices& items) const {
    const Some known = some_of(times_, items);
    return grow(known, constant_base(known), kAlone, seed_);
  }

  const ManyTimes& times_;
  uint64_t seed_;
  std::vector<size_t> fold_of_;
  std::map<std::string, Indices> kinds_;
  Boosted found_;
};

Result<Boosted> Boosted::learn(const ManyTimes& times, uint64_t seed) {
  if (times.seconds.size() < kLeastItems)
    return bad_input(fmt::format("trees need at least {} times of a task; there are {}",
                                 kLeastItems, times.seconds.size()));
  const auto usable = [](double value) { return std::isfinite(value); };
  if (!std::all_of(times.costs.values.begin(), times.costs.values.end(), usable))
    return bad_input("a cost is no number");
  if (!std::all_of(times.seconds.begin(), times.seconds.end(),
                   [](double time) { return std::isfinite(time) && time > 0; }))
    return bad_input("a time is not above zero");
  return BoostedLearner(times, seed).run();
}

std::vector<double> Boosted::tell(const Grid& costs, const Grid& features,
                                  const std::vector<std::string>& kinds) const {
  std::vector<double> logs;
  for (size_t row = 0; row < features.rows; ++row) {
    const auto part = parts_.find(kinds[row]);
    const Part& members = part != parts_.end() ? part->second : parts_.at(usual_);
    const auto values = features.row(row);
    const std::vector<float> asked(values.begin(), values.end());
    double sum = 0;
    for (const Member& member : members) {
      sum += std::log(seconds_of(member.base, costs.row(row)));
      if (member.trees) sum += member.scale * static_cast<double>(member.trees->tell(asked));
    }
    logs.push_back(sum / static_cast<double>(members.size()));
  }
  return logs;
}

}  // namespace assay::predict
