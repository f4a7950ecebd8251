// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <map>

#include <assay/placement/assign.h>

namespace assay::placement {
namespace {

/// A device that misses a goal counts so many times its time.
constexpr double kMissed = 1000;
constexpr int kMostRounds = 100;
/// Up to so many all are tried.
constexpr double kFewWays = 20'000;

/// One place where a model could go.
struct Place {
  size_t node = 0;
  double seconds = 0;
  double memory = 0;
  size_t position = 0;  ///< in its ranking
};

class Assignment {
 public:
  explicit Assignment(const std::vector<Ranking>& rankings) {
    for (const auto& ranking : rankings) add(ranking);
    chosen_.resize(places_.size());
  }

  void solve() {
    double ways = 1;
    for (const auto& places : places_) ways *= static_cast<double>(places.size() + 1);
    if (ways <= kFewWays)
      try_all();
    else
      search();
  }

  std::vector<std::optional<size_t>> positions() const {
    std::vector<std::optional<size_t>> result(places_.size());
    for (size_t model = 0; model < places_.size(); ++model) {
      if (chosen_[model]) result[model] = places_[model][*chosen_[model]].position;
    }
    return result;
  }

 private:
  void add(const Ranking& ranking) {
    std::vector<Place>& places = places_.emplace_back();
    for (size_t i = 0; i < ranking.devices.size(); ++i) {
      const Ranked& device = ranking.devices[i];
      if (!device.possible) continue;
      const Candidate& candidate = device.candidate;
      const auto [node, is_new] = nodes_.emplace(candidate.node.name, nodes_.size());
      if (is_new) {
        const auto& room = candidate.node.memory_available ? candidate.node.memory_available
                                                           : candidate.node.memory_bytes;
        rooms_.push_back(room.value_or(std::numeric_limits<double>::infinity()));
      }
      const double weight = device.missed.empty() ? 1 : kMissed;
      places.push_back({node->second, weight * candidate.total_seconds(),
                        candidate.memory_needed.value_or(0), i});
    }
  }

  /// The time of all models; those of one node take as many times longer as they are.
  double cost() const {
    std::vector<double> seconds(rooms_.size());
    std::vector<double> memory(rooms_.size());
    std::vector<double> count(rooms_.size());
    double total = 0;
    for (size_t model = 0; model < places_.size(); ++model) {
      if (!chosen_[model]) {
        total += places_[model].empty() ? 0 : kUnplaced;
        continue;
      }
      const Place& place = places_[model][*chosen_[model]];
      seconds[place.node] += place.seconds;
      memory[place.node] += place.memory;
      count[place.node] += 1;
    }
    for (size_t node = 0; node < rooms_.size(); ++node) {
      if (memory[node] > rooms_[node]) return std::numeric_limits<double>::infinity();
      total += seconds[node] * count[node];
    }
    return total;
  }

  /// The next way to place all models, like counting; false after the last one.
  bool next_way() {
    for (size_t model = 0; model < places_.size(); ++model) {
      const size_t next = chosen_[model] ? *chosen_[model] + 1 : 0;
      if (next < places_[model].size()) {
        chosen_[model] = next;
        return true;
      }
      chosen_[model].reset();
    }
    return false;
  }

  void try_all() {
    auto best = chosen_;
    double least = cost();
    while (next_way()) {
      const double now = cost();
      if (now >= least) continue;
      least = now;
      best = chosen_;
    }
    chosen_ = best;
  }

  /// Begins with each model where it is best at that moment, then moves and swaps as long as that
  /// helps.
  void search() {
    for (size_t model = 0; model < places_.size(); ++model) improve(model);
    for (int round = 0; round < kMostRounds; ++round) {
      bool better = false;
      for (size_t model = 0; model < places_.size(); ++model) better = improve(model) || better;
      for (size_t a = 0; a < places_.size(); ++a) {
        for (size_t b = 0; b < places_.size(); ++b)
          better = (a != b && improve_both(a, b)) || better;
      }
      if (!better) return;
    }
  }

  /// Puts one model where all is least.
  bool improve(size_t model) {
    const auto before = chosen_[model];
    auto best = before;
    double least = cost();
    for (size_t i = 0; i < places_[model].size(); ++i) {
      chosen_[model] = i;
      const double now = cost();
      if (now < least * (1 - 1e-12)) {
        least = now;
        best = i;
      }
    }
    chosen_[model] = best;
    return best != before;
  }

  /// Moves `a` to where `b` is, and lets `b` go elsewhere.
  bool improve_both(size_t a, size_t b) {
    if (!chosen_[a] || !chosen_[b]) return false;
    const auto before_a = chosen_[a];
    const auto before_b = chosen_[b];
    const size_t node = places_[b][*before_b].node;
    const auto place = std::find_if(places_[a].begin(), places_[a].end(),
                                    [node](const Place& one) { return one.node == node; });
    if (place == places_[a].end()) return false;
    const double before = cost();
    chosen_[a] = static_cast<size_t>(place - places_[a].begin());
    (void)improve(b);
    if (cost() < before * (1 - 1e-12)) return true;
    chosen_[a] = before_a;
    chosen_[b] = before_b;
    return false;
  }

  static constexpr double kUnplaced = 1e12;  ///< seconds: any place is better than none

  std::vector<std::vector<Place>> places_;  ///< of each model
  std::map<std::string, size_t> nodes_;
  std::vector<double> rooms_;                  ///< memory of each node
  std::vector<std::optional<size_t>> chosen_;  ///< of each model, in places_
};

}  // namespace

std::vector<std::optional<size_t>> assign(const std::vector<Ranking>& rankings) {
  Assignment assignment(rankings);
  assignment.solve();
  return assignment.positions();
}

}  // namespace assay::placement
