// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <compare>
#include <limits>
#include <map>

#include <assay/placement/assign.h>

namespace assay::placement {
namespace {

constexpr int kMostRounds = 20;
/// Longer ones are all the same: sums of far larger and small times would lose the small.
constexpr double kLongest = 1e9;
/// Up to so many all are tried.
constexpr double kFewWays = 20'000;

/// One place where a model could go.
struct Place {
  size_t node = 0;
  double seconds = 0;
  double memory = 0;
  bool missed = false;  ///< it would miss a goal there
  size_t position = 0;  ///< in its ranking
};

/// The less the better, the first things first.
struct Cost {
  int64_t unplaced = 0;
  int64_t missed = 0;
  double seconds = 0;

  auto operator<=>(const Cost&) const = default;
};
/// A difference that is more than rounding.
bool is_less(const Cost& a, const Cost& b) {
  if (a.unplaced != b.unplaced || a.missed != b.missed) return a < b;
  return a.seconds < b.seconds * (1 - 1e-9);
}

/// What models a node has.
struct Load {
  double room = std::numeric_limits<double>::infinity();  ///< memory
  double memory = 0;
  double seconds = 0;
  double models = 0;
};

class Assignment {
 public:
  explicit Assignment(const std::vector<Ranking>& rankings) {
    for (const auto& ranking : rankings) add(ranking);
    chosen_.resize(places_.size());
    cost_.unplaced = static_cast<int64_t>(places_.size());
  }

  void solve() {
    double ways = 1;
    for (const auto& places : places_) ways *= static_cast<double>(places.size() + 1);
    if (ways <= kFewWays)
      try_all();
    else
      search();
  }

  std::vector<Assigned> result() const {
    std::vector<Assigned> all(places_.size());
    for (size_t model = 0; model < places_.size(); ++model) {
      if (!chosen_[model]) continue;
      const Place& place = places_[model][*chosen_[model]];
      const double models = loads_[place.node].models;
      all[model] = {place.position, static_cast<size_t>(models), place.seconds * models};
    }
    return all;
  }

 private:
  void add(const Ranking& ranking) {
    std::vector<Place>& places = places_.emplace_back();
    for (size_t i = 0; i < ranking.devices.size(); ++i) {
      const Ranked& device = ranking.devices[i];
      if (!device.possible) continue;
      const Candidate& candidate = device.candidate;
      const auto [node, is_new] = nodes_.emplace(candidate.node.name, loads_.size());
      if (is_new) {
        const auto& room = candidate.node.memory_available ? candidate.node.memory_available
                                                           : candidate.node.memory_bytes;
        loads_.emplace_back();
        if (room) loads_.back().room = *room;
      }
      places.push_back({node->second, std::min(candidate.total_seconds(), kLongest),
                        candidate.memory_needed.value_or(0), !device.missed.empty(), i});
    }
  }

  bool has_room(const Place& place) const {
    const Load& load = loads_[place.node];
    return load.memory + place.memory <= load.room;
  }

  /// Puts a model somewhere, or takes it away: `sign` is 1 or -1.
  void change(const Place& place, int sign) {
    Load& load = loads_[place.node];
    cost_.seconds -= load.seconds * load.models;
    load.seconds += sign * place.seconds;
    load.memory += sign * place.memory;
    load.models += sign;
    cost_.seconds += load.seconds * load.models;
    cost_.unplaced -= sign;
    if (place.missed) cost_.missed += sign;
  }
  void put(size_t model, std::optional<size_t> at) {
    if (chosen_[model]) change(places_[model][*chosen_[model]], -1);
    chosen_[model] = at;
    if (at) change(places_[model][*at], 1);
  }

  /// The next way to place all models, like counting; false after the last one.
  bool next_way() {
    for (size_t model = 0; model < places_.size(); ++model) {
      const size_t next = chosen_[model] ? *chosen_[model] + 1 : 0;
      if (next < places_[model].size()) {
        put(model, next);
        return true;
      }
      put(model, std::nullopt);
    }
    return false;
  }

  bool fits() const {
    return std::all_of(loads_.begin(), loads_.end(),
                       [](const Load& load) { return load.memory <= load.room; });
  }

  void try_all() {
    auto best = chosen_;
    Cost least = cost_;
    while (next_way()) {
      if (!is_less(cost_, least) || !fits()) continue;
      least = cost_;
      best = chosen_;
    }
    for (size_t model = 0; model < best.size(); ++model) put(model, best[model]);
  }

  /// Begins with each model where it is best at that moment, then moves and swaps as long as that
  /// helps.
  void search() {
    for (size_t model = 0; model < places_.size(); ++model) improve(model);
    for (int round = 0; round < kMostRounds; ++round) {
      bool better = false;
      for (size_t a = 0; a < places_.size(); ++a) {
        better = improve(a) || better;
        for (size_t b = 0; b < places_.size(); ++b) better = (a != b && swap(a, b)) || better;
      }
      if (!better) return;
    }
  }

  /// Puts one model where all is least.
  bool improve(size_t model) {
    const auto before = chosen_[model];
    auto best = before;
    Cost least = cost_;
    for (size_t i = 0; i < places_[model].size(); ++i) {
      put(model, std::nullopt);
      if (!has_room(places_[model][i])) continue;
      put(model, i);
      if (!is_less(cost_, least)) continue;
      least = cost_;
      best = i;
    }
    put(model, best);
    return best != before;
  }

  /// Moves `a` to where `b` is, and lets `b` go elsewhere.
  bool swap(size_t a, size_t b) {
    if (!chosen_[a] || !chosen_[b]) return false;
    const auto before_a = chosen_[a];
    const auto before_b = chosen_[b];
    const size_t node = places_[b][*before_b].node;
    const auto place = std::find_if(places_[a].begin(), places_[a].end(),
                                    [node](const Place& one) { return one.node == node; });
    if (place == places_[a].end()) return false;
    const Cost before = cost_;
    put(b, std::nullopt);
    put(a, std::nullopt);
    if (has_room(*place)) {
      put(a, static_cast<size_t>(place - places_[a].begin()));
      improve(b);
      if (is_less(cost_, before)) return true;
    }
    put(a, before_a);
    put(b, before_b);
    return false;
  }

  std::vector<std::vector<Place>> places_;  ///< of each model
  std::map<std::string, size_t> nodes_;
  std::vector<Load> loads_;                    ///< of each node
  std::vector<std::optional<size_t>> chosen_;  ///< of each model, in places_
  Cost cost_;
};

}  // namespace

std::vector<Assigned> assign(const std::vector<Ranking>& rankings) {
  Assignment assignment(rankings);
  assignment.solve();
  return assignment.result();
}

}  // namespace assay::placement
