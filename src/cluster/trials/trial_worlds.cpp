// SPDX-License-Identifier: Apache-2.0
#include "trial_worlds.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <random>

namespace assay::cluster {
namespace {

/// The smallest count of a kind may lack memory, and the largest room.
constexpr double kUsuallyWorks = 0.97;
constexpr double kSmallestWorks = 0.92;
constexpr double kLargestWorks = 0.88;
constexpr double kNever = -1e9;
constexpr size_t kWorlds = 3000;
/// So many worlds are taken for the truth in turn, when a trial is thought through.
constexpr size_t kTruths = 48;
/// How exact a trial is expected to be; at least a part of what is not known, since there are only
/// so many worlds.
constexpr double kTrialError = 0.03;
constexpr double kLeastPart = 0.1;

double usually_works(const Choice& choice, const std::vector<Choice>& choices) {
  bool smallest = true, largest = true;
  for (const auto& other : choices) {
    if (other.kind != choice.kind) continue;
    smallest &= other.count >= choice.count;
    largest &= other.count <= choice.count;
  }
  if (largest) return kLargestWorks;
  return smallest ? kSmallestWorks : kUsuallyWorks;
}

/// How much less likely another number of a kind works after this end.
double hint_of(TrialEnd end, bool larger) {
  if (end == TrialEnd::no_room) return larger ? 0.05 : 0.7;
  if (end == TrialEnd::failed) return larger ? 0.7 : 0.1;
  return 1;
}

Eigen::MatrixXd root_of(const KindBelief& kind) {
  const auto size = static_cast<Eigen::Index>(kind.choices.size());
  Eigen::MatrixXd covariance =
      Eigen::Map<const Eigen::MatrixXd>(kind.covariance.data(), size, size);
  covariance.diagonal().array() += 1e-9;
  return covariance.llt().matrixL();
}

}  // namespace

std::vector<double> works_of(const std::vector<Choice>& choices, const std::vector<Tried>& trials) {
  std::vector<double> works;
  works.reserve(choices.size());
  for (const auto& choice : choices) works.push_back(usually_works(choice, choices));
  for (const auto& trial : trials) {
    const Choice& tried = choices[trial.choice];
    for (size_t i = 0; i < choices.size(); ++i)
      if (choices[i].kind == tried.kind && i != trial.choice)
        works[i] *= hint_of(trial.end, choices[i].count > tried.count);
  }
  for (const auto& trial : trials)
    if (trial.end != TrialEnd::lost) works[trial.choice] = trial.end == TrialEnd::measured ? 1 : 0;
  return works;
}

Worlds::Worlds(const ScalingBelief& belief, const Question& question,
               const std::vector<double>& works)
    : question_(question), works_(works) {
  for (size_t i = 0; i < belief.choices().size(); ++i) {
    const double price = price_of(question.prices, belief.choices()[i]);
    offsets_.push_back(question.want == Question::Want::cheapest ? -std::log(price) : 0);
    double least = 0;
    if (question.deadline > 0) least = question.work / question.deadline;
    if (question.budget > 0)
      least = std::max(least, question.work * price / 3600 / question.budget);
    needed_.push_back(least > 0 ? std::log(least) : kNever);
    spreads_.push_back(belief.throughput(i).sd);
  }
  draw(belief);
  chances_.assign(offsets_.size(), 0.0);
  within_.assign(offsets_.size(), 0.0);
  for (auto& world : worlds_) {
    judge(world);
    if (world.best.empty()) none_ += 1.0 / static_cast<double>(kWorlds);
    for (const size_t one : world.best) chances_[one] += 1.0 / static_cast<double>(kWorlds);
    for (size_t i = 0; i < offsets_.size(); ++i)
      within_[i] += (world.speeds[i] >= needed_[i]) / static_cast<double>(kWorlds);
  }
}

void Worlds::draw(const ScalingBelief& belief) {
  std::mt19937_64 engine(1);
  std::normal_distribution<> normal;
  std::uniform_real_distribution<> uniform;
  worlds_.assign(
      kWorlds,
      {std::vector<double>(offsets_.size()), std::vector<unsigned char>(offsets_.size()), {}});
  for (const auto& kind : belief.kinds()) {
    const Eigen::MatrixXd root = root_of(kind);
    for (auto& world : worlds_) {
      double left = uniform(engine);
      size_t law = 0;
      while (law + 1 < kind.weights.size() && (left -= kind.weights[law]) > 0) ++law;
      Eigen::VectorXd noise(root.rows());
      for (double& one : noise) one = normal(engine);
      noise = root * noise;
      for (size_t at = 0; at < kind.choices.size(); ++at) {
        world.speeds[kind.choices[at]] = kind.means[law][at] + noise[static_cast<Eigen::Index>(at)];
        world.works[kind.choices[at]] = uniform(engine) < works_[kind.choices[at]];
      }
    }
  }
}

void Worlds::judge(World& world) {
  const auto worth = [&](size_t i) {
    return world.works[i] != 0 && world.speeds[i] >= needed_[i] ? world.speeds[i] + offsets_[i]
                                                                : kNever;
  };
  double most = kNever;
  for (size_t i = 0; i < offsets_.size(); ++i) most = std::max(most, worth(i));
  for (size_t i = 0; most > kNever && i < offsets_.size(); ++i)
    if (worth(i) >= most - question_.close) world.best.push_back(i);
}

/// The worlds that such a trial would leave, each as likely as it explains the trial.
double Worlds::promise_of(size_t choice, const World& truth) const {
  const double error = std::max(kTrialError, kLeastPart * spreads_[choice]);
  std::vector<double> chances(offsets_.size(), 0.0);
  double sum = 0, none = 0;
  for (const auto& world : worlds_) {
    if (world.works[choice] != truth.works[choice]) continue;
    double weight = 1;
    if (truth.works[choice] != 0) {
      const double miss = (world.speeds[choice] - truth.speeds[choice]) / error;
      if (std::abs(miss) > 4) continue;
      weight = std::exp(-0.5 * miss * miss);
    }
    sum += weight;
    for (const size_t one : world.best) chances[one] += weight;
    if (world.best.empty()) none += weight;
  }
  if (!(sum > 0)) return 0;
  return std::max(*std::max_element(chances.begin(), chances.end()), none) / sum;
}

double Worlds::promise(size_t choice) const {
  double sum = 0;
  for (size_t i = 0; i < kTruths; ++i) sum += promise_of(choice, worlds_[i * kWorlds / kTruths]);
  return sum / static_cast<double>(kTruths);
}

}  // namespace assay::cluster
