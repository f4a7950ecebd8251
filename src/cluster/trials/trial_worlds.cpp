// SPDX-License-Identifier: Apache-2.0
#include "trial_worlds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>

namespace assay::cluster {
namespace {

constexpr size_t kWorlds = 6000;
/// What a trial may measure is told apart in parts that are equally likely: at most so many, and of
/// at least so many worlds.
constexpr size_t kMostParts = 16;
constexpr size_t kLeastPart = 100;
constexpr double kNever = -1e9;

}  // namespace

Worlds::Worlds(const ScalingBelief& belief, const Question& question, const Workable& workable) {
  std::mt19937_64 engine(1);
  draws_ = belief.draw(kWorlds, engine);
  works_.assign(kWorlds, std::vector<unsigned char>(belief.choices().size()));
  for (auto& works : works_) workable.draw(engine, works);
  std::normal_distribution<> normal;
  for (auto& noise : noise_)
    for (size_t i = 0; i < kWorlds; ++i) noise.push_back(normal(engine));
  judge(question, belief.choices());
}

void Worlds::judge(const Question& question, const std::vector<Choice>& choices) {
  const size_t count = choices.size();
  std::vector<double> offsets, needed;
  for (const auto& choice : choices) {
    const double price = price_of(question.prices, choice);
    offsets.push_back(question.want == Question::Want::cheapest ? -std::log(price) : 0);
    double least = 0;
    if (question.deadline > 0) least = question.work / question.deadline;
    if (question.budget > 0)
      least = std::max(least, question.work * price / 3600 / question.budget);
    needed.push_back(least > 0 ? std::log(least) : kNever);
  }
  chances_.assign(count, 0.0);
  within_.assign(count, 0.0);
  constexpr double kEach = 1.0 / static_cast<double>(kWorlds);
  std::vector<double> worth(count);
  for (size_t world = 0; world < kWorlds; ++world) {
    double most = kNever;
    for (size_t i = 0; i < count; ++i) {
      const double speed = draws_.speeds[i][world];
      const bool is_within = speed >= needed[i];
      if (is_within) within_[i] += kEach;
      worth[i] = is_within && works_[world][i] != 0 ? speed + offsets[i] : kNever;
      most = std::max(most, worth[i]);
    }
    best_from_.push_back(best_.size());
    for (size_t i = 0; most > kNever && i < count; ++i)
      if (worth[i] >= most - question.close) {
        best_.push_back(i);
        chances_[i] += kEach;
      }
    if (most <= kNever) none_ += kEach;
  }
  best_from_.push_back(best_.size());
}

/// In how many of these worlds the answer is right that is most often right in the other half of
/// them: were it chosen by the same worlds, what tells nothing would seem to tell something.
double Worlds::best_guess(std::span<const size_t> worlds) const {
  std::array<std::vector<double>, 2> right;
  for (size_t half = 0; half < 2; ++half) {
    right[half].assign(chances_.size() + 1, 0.0);  // the last one: none
    for (size_t i = half; i < worlds.size(); i += 2) {
      const size_t world = worlds[i];
      if (best_from_[world] == best_from_[world + 1]) ++right[half].back();
      for (size_t at = best_from_[world]; at < best_from_[world + 1]; ++at)
        ++right[half][best_[at]];
    }
  }
  double sum = 0;
  for (size_t half = 0; half < 2; ++half) {
    const auto& other = right[1 - half];
    sum += right[half]
                [static_cast<size_t>(std::max_element(other.begin(), other.end()) - other.begin())];
  }
  return sum;
}

double Worlds::promise(size_t choice, std::span<const size_t> then) const {
  std::vector<size_t> all(kWorlds);
  std::iota(all.begin(), all.end(), size_t{0});
  return expected(all, choice, then) / static_cast<double>(kWorlds);
}

/// In how many of these worlds the answer is right after a trial, and after a second one.
double Worlds::expected(std::span<const size_t> worlds, size_t choice,
                        std::span<const size_t> then) const {
  const bool last = then.empty();
  const auto& noise = noise_[last ? 0 : 1];
  std::vector<std::pair<double, size_t>> measured;
  std::vector<size_t> fails, order;
  for (const size_t world : worlds)
    if (works_[world][choice] == 0)
      fails.push_back(world);
    else
      measured.emplace_back(draws_.speeds[choice][world] + draws_.errors[world] * noise[world],
                            world);
  std::sort(measured.begin(), measured.end());
  for (const auto& [speed, world] : measured) order.push_back(world);
  const auto value = [&](std::span<const size_t> part) {
    if (part.empty()) return 0.0;
    double most = best_guess(part);
    for (const size_t next : then) most = std::max(most, expected(part, next, {}));
    return most;
  };
  const size_t parts = std::clamp<size_t>(worlds.size() / kLeastPart, 1, kMostParts);
  double sum = value(fails);
  for (size_t part = 0; part < parts; ++part) {
    const size_t from = order.size() * part / parts, to = order.size() * (part + 1) / parts;
    sum += value(std::span(order).subspan(from, to - from));
  }
  return sum;
}

}  // namespace assay::cluster
