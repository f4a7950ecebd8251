// SPDX-License-Identifier: Apache-2.0
#include "trial_works.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace assay::cluster {
namespace {

/// That the smallest count of a kind lacks memory, and the largest room; for each next one half.
constexpr double kLacksMemory = 0.1;
constexpr double kLacksRoom = 0.1;
/// That a choice fails for a reason that others do not share.
constexpr double kFailsAlone = 0.01;
/// That what a trial seems to tell of others of its kind is wrong.
constexpr double kMistaken = 0.001;

/// That others have the room just when it is wanted.
constexpr double kRoomTaken = 0.3;

double beyond(double chance, size_t places) {
  return places == 0 ? 1 - chance : chance * std::pow(0.5, static_cast<double>(places));
}

bool says_little(TrialEnd end) {
  return end == TrialEnd::lost || end == TrialEnd::busy;
}

double likelihood(TrialEnd end, size_t at, size_t least, size_t most) {
  if (end == TrialEnd::no_room) return at >= most ? 1 : kMistaken;
  if (end == TrialEnd::failed) return at < least ? 1 : kMistaken;
  return at >= least && at < most ? 1 : 1e-6;
}

}  // namespace

Workable::Workable(const std::vector<Choice>& choices, const std::vector<Tried>& trials)
    : told_(choices.size(), -1), chances_(choices.size()) {
  std::map<std::string, std::vector<size_t>> by_kind;
  for (size_t i = 0; i < choices.size(); ++i) by_kind[choices[i].kind].push_back(i);
  for (const auto& trial : trials)
    if (!says_little(trial.end) && told_[trial.choice] != 1)
      told_[trial.choice] = trial.end == TrialEnd::measured;
  for (auto& [name, kind] : by_kind) {
    std::stable_sort(kind.begin(), kind.end(),
                     [&](size_t a, size_t b) { return choices[a].count < choices[b].count; });
    kinds_.push_back({kind, bounds_of(kind, trials)});
    double before = 0;
    for (const auto& bounds : kinds_.back().bounds) {
      for (size_t at = bounds.least; at < bounds.most; ++at)
        chances_[kind[at]] += (1 - kFailsAlone) * (bounds.upto - before);
      before = bounds.upto;
    }
  }
  for (size_t i = 0; i < choices.size(); ++i)
    if (told_[i] >= 0) chances_[i] = told_[i];
}

std::vector<Workable::Bounds> Workable::bounds_of(const std::vector<size_t>& choices,
                                                  const std::vector<Tried>& trials) {
  const auto place_of = [&](size_t choice) {
    return static_cast<size_t>(std::find(choices.begin(), choices.end(), choice) - choices.begin());
  };
  // Nodes say for how many there is room, but not what a quota or other jobs leave.
  size_t room = choices.size();
  for (const auto& trial : trials)
    if (trial.known && trial.end == TrialEnd::no_room)
      room = std::min(room, place_of(trial.choice));
  std::vector<Bounds> all;
  double sum = 0;
  for (size_t least = 0; least <= choices.size(); ++least)
    for (size_t most = 0; most <= room; ++most) {
      double weight = beyond(kLacksMemory, least) * beyond(kLacksRoom, room - most);
      bool taken = false;
      for (const auto& trial : trials) {
        const size_t at = place_of(trial.choice);
        if (at == choices.size() || trial.known) continue;
        if (!says_little(trial.end)) weight *= likelihood(trial.end, at, least, most);
        taken |= trial.end == TrialEnd::busy && at < most;
      }
      if (taken) weight *= kRoomTaken;  // once: whoever has it may have it all the time
      all.push_back({least, most, sum += weight});
    }
  for (auto& bounds : all) bounds.upto /= sum;
  return all;
}

void Workable::draw(std::mt19937_64& engine, std::vector<unsigned char>& works) const {
  std::uniform_real_distribution<> uniform;
  for (const auto& kind : kinds_) {
    const auto found =
        std::lower_bound(kind.bounds.begin(), kind.bounds.end() - 1, uniform(engine),
                         [](const Bounds& bounds, double upto) { return bounds.upto < upto; });
    for (size_t at = 0; at < kind.choices.size(); ++at) {
      const bool alone = uniform(engine) < kFailsAlone;
      const size_t choice = kind.choices[at];
      works[choice] = told_[choice] >= 0 ? static_cast<unsigned char>(told_[choice])
                                         : static_cast<unsigned char>(at >= found->least &&
                                                                      at < found->most && !alone);
    }
  }
}

}  // namespace assay::cluster
