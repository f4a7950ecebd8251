// SPDX-License-Identifier: Apache-2.0
#include "scaling_shapes.h"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <assay/cluster/scaling_law.h>

namespace assay::cluster {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Of a trial that does not say how exact it is, one of these; and the least that is believed.
constexpr std::array kErrors = {0.012, 0.025, 0.042};
constexpr double kLeastError = 0.01;
/// How far jobs are from any shape: at each count by itself, and drifting from one doubling to the
/// next.
constexpr double kPointMisfit = 0.01;
constexpr double kDriftMisfit = 0.03;
/// Before anything was measured, and between kinds.
constexpr double kAnyLevelSd = 6;
constexpr double kKindLevelSd = 0.75;
constexpr double kPricedLevelSd = 0.5;
/// How exactly shapes tell a law's parts, at best.
constexpr double kGridStep = 0.2;

/// An idea is a shape with one of the errors.
size_t idea_count() {
  return kErrors.size() * shape_count();
}

double error_of(const Speed& speed, double usual) {
  return speed.error > 0 ? std::max(speed.error, kLeastError) : usual;
}

MatrixXd prior_covariance(const VectorXd& counts, double level_sd) {
  const auto size = counts.size();
  const double least = counts.minCoeff();
  MatrixXd all(size, size);
  for (Index i = 0; i < size; ++i)
    for (Index j = 0; j < size; ++j)
      all(i, j) = level_sd * level_sd +
                  kDriftMisfit * kDriftMisfit * std::log2(std::min(counts[i], counts[j]) / least) +
                  (i == j ? kPointMisfit * kPointMisfit : 0);
  return all;
}

/// [choice][shape]
MatrixXd shapes_at(const VectorXd& counts, double least) {
  MatrixXd all(counts.size(), static_cast<Index>(shape_count()));
  for (Index shape = 0; shape < all.cols(); ++shape)
    for (Index i = 0; i < counts.size(); ++i)
      all(i, shape) = log_speedup(static_cast<size_t>(shape), counts[i], least);
  return all;
}

/// Turns logarithms of weights into weights of which the largest is 1.
void from_logs(std::vector<double>& logs) {
  const double most = *std::max_element(logs.begin(), logs.end());
  for (double& one : logs) one = std::exp(one - most);
}

void normalize(std::vector<double>& weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& one : weights) one /= sum;
}

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Eigen::Map<const Rows> alike() {
  const auto count = static_cast<Index>(shape_count());
  return {shapes_alike().data(), count, count};
}

/// The part of all ideas that has one error.
template <class Weights>
auto part_of(Weights& weights, size_t error) {
  using Vector = std::conditional_t<std::is_const_v<Weights>, const VectorXd, VectorXd>;
  return Eigen::Map<Vector>(weights.data() + error * shape_count(),
                            static_cast<Index>(shape_count()));
}

/// How well each idea of the job explains the trials of a kind.
std::vector<double> told_of_job(const std::vector<double>& evidence) {
  std::vector<double> told(idea_count());
  for (size_t error = 0; error < kErrors.size(); ++error)
    part_of(told, error) = (alike() * part_of(evidence, error)).cwiseMax(1e-300);
  return told;
}

}  // namespace

double KindBelief::mean(size_t at) const {
  double sum = 0;
  for (size_t idea = 0; idea < weights.size(); ++idea)
    sum += weights[idea] * means[idea * choices.size() + at];
  return sum;
}

double KindBelief::variance(size_t at) const {
  const double middle = mean(at);
  const size_t shapes = weights.size() / covariances.size();
  double sum = 0;
  for (size_t idea = 0; idea < weights.size(); ++idea) {
    const double off = means[idea * choices.size() + at] - middle;
    sum += weights[idea] * (off * off + covariances[idea / shapes][at * choices.size() + at]);
  }
  return sum;
}

ScalingBelief::ScalingBelief(std::vector<Choice> choices, std::span<const Speed> speeds,
                             const Prices& prices)
    : choices_(std::move(choices)), speeds_(speeds.begin(), speeds.end()) {
  find_kinds();
  evidence_.resize(kinds_.size());
  // First each kind by itself, which tells how it scales; then how fast it is, with what the others
  // have told. That is no evidence of how it scales: kinds may be as fast as they like.
  learn_all([](size_t) { return Level{std::vector<double>(idea_count()), kAnyLevelSd}; });
  for (size_t kind = 0; kind < kinds_.size(); ++kind) evidence_[kind] = kinds_[kind].weights;
  learn_all([&](size_t kind) { return level_of(kind, prices); });
  share();
}

void ScalingBelief::learn_all(const std::function<Level(size_t)>& level) {
  std::vector<KindBelief> learned;
  for (size_t kind = 0; kind < kinds_.size(); ++kind) learned.push_back(learn(kind, level(kind)));
  kinds_ = std::move(learned);
}

void ScalingBelief::find_kinds() {
  std::vector<std::string> names;
  for (size_t i = 0; i < choices_.size(); ++i) {
    const auto found = std::find(names.begin(), names.end(), choices_[i].kind);
    const auto kind = static_cast<size_t>(found - names.begin());
    if (found == names.end()) {
      names.push_back(choices_[i].kind);
      kinds_.emplace_back();
    }
    places_.push_back({kind, kinds_[kind].choices.size()});
    kinds_[kind].choices.push_back(i);
    least_ = i == 0 ? choices_[i].count : std::min(least_, choices_[i].count);
  }
  part_ = std::min(1.0, least_);
  least_ /= part_;
}

double ScalingBelief::size_of(size_t choice) const {
  return choices_[choice].count / part_;
}

ScalingBelief::Level ScalingBelief::level_of(size_t kind, const Prices& prices) const {
  const auto price = [&](size_t of) {
    return price_of(prices, {choices_[kinds_[of].choices.front()].kind, 1});
  };
  Level level{std::vector<double>(idea_count()), kAnyLevelSd};
  double others = 0;
  bool all_priced = price(kind) > 0;
  for (size_t other = 0; other < kinds_.size(); ++other) {
    if (other == kind || std::none_of(speeds_.begin(), speeds_.end(), [&](const Speed& speed) {
          return places_[speed.choice].kind == other;
        }))
      continue;
    const bool priced = price(kind) > 0 && price(other) > 0;
    all_priced &= priced;
    const double dearer = priced ? std::log(price(kind) / price(other)) : 0;
    const KindBelief& told = kinds_[other];
    const double size = size_of(told.choices.front());
    for (size_t idea = 0; idea < idea_count(); ++idea)
      level.means[idea] += told.means[idea * told.choices.size()] -
                           log_speedup(idea % shape_count(), size, least_) + dearer;
    ++others;
  }
  if (others == 0) return level;
  for (double& mean : level.means) mean /= others;
  level.sd = (all_priced ? kPricedLevelSd : kKindLevelSd) * std::sqrt(1 + 1 / others);
  return level;
}

/// What a kind's own trials tell: its weights are not yet those of a belief.
KindBelief ScalingBelief::learn(size_t kind, const Level& level) const {
  KindBelief belief{kinds_[kind].choices, {}, {}, {}};
  const auto size = static_cast<Index>(belief.choices.size());
  VectorXd counts(size);
  for (Index i = 0; i < size; ++i) counts[i] = size_of(belief.choices[static_cast<size_t>(i)]);
  const MatrixXd prior = prior_covariance(counts, level.sd);
  const MatrixXd shapes = shapes_at(counts, least_);

  std::vector<Index> seen;
  std::vector<const Speed*> own;
  for (const auto& speed : speeds_)
    if (places_[speed.choice].kind == kind) {
      seen.push_back(static_cast<Index>(places_[speed.choice].at));
      own.push_back(&speed);
    }
  for (size_t error = 0; error < kErrors.size(); ++error) {
    MatrixXd means = shapes, covariance = prior;
    means.rowwise() += part_of(level.means, error).transpose();
    VectorXd logs = VectorXd::Zero(shapes.cols());
    if (!own.empty()) {
      MatrixXd among = prior(seen, seen), miss = -means(seen, Eigen::all);
      for (size_t i = 0; i < own.size(); ++i) {
        const auto row = static_cast<Index>(i);
        miss.row(row).array() += std::log(own[i]->throughput);
        among(row, row) += std::pow(error_of(*own[i], kErrors[error]), 2);
      }
      const Eigen::LLT<MatrixXd> solver(among);
      const MatrixXd between = prior(Eigen::all, seen);
      means += between * solver.solve(miss);
      covariance -= between * solver.solve(between.transpose());
      const MatrixXd root = solver.matrixL();
      const MatrixXd scaled = solver.matrixL().solve(miss);
      logs = -0.5 * scaled.colwise().squaredNorm().transpose();
      logs.array() -= root.diagonal().array().log().sum();
    }
    belief.weights.insert(belief.weights.end(), logs.begin(), logs.end());
    belief.means.insert(belief.means.end(), means.data(), means.data() + means.size());
    belief.covariances.emplace_back(covariance.data(), covariance.data() + covariance.size());
  }
  from_logs(belief.weights);
  return belief;
}

/// The job scales in some way, and each of its kinds alike: what a kind tells of the job is told to
/// the others.
void ScalingBelief::share() {
  std::vector<double> logs(idea_count());
  for (size_t idea = 0; idea < logs.size(); ++idea)
    logs[idea] = std::log(shape_priors()[idea % shape_count()]);
  std::vector<std::vector<double>> told;
  for (const auto& evidence : evidence_) {
    told.push_back(told_of_job(evidence));
    for (size_t idea = 0; idea < logs.size(); ++idea) logs[idea] += std::log(told.back()[idea]);
  }
  jobs_ = logs;
  from_logs(jobs_);
  normalize(jobs_);
  for (size_t kind = 0; kind < kinds_.size(); ++kind) {
    std::vector<double> others(idea_count());
    for (size_t idea = 0; idea < others.size(); ++idea)
      others[idea] = jobs_[idea] / told[kind][idea];
    for (size_t error = 0; error < kErrors.size(); ++error)
      part_of(kinds_[kind].weights, error) = (alike().transpose() * part_of(others, error))
                                                 .cwiseProduct(part_of(evidence_[kind], error));
    normalize(kinds_[kind].weights);
  }
}

Estimate ScalingBelief::throughput(size_t choice) const {
  const auto [kind, at] = places_[choice];
  return {std::exp(kinds_[kind].mean(at)), std::sqrt(kinds_[kind].variance(at))};
}

Law ScalingBelief::law(size_t kind) const {
  const KindBelief& belief = kinds_[kind];
  Law law;
  law.kind = choices_[belief.choices.front()].kind;
  law.part = part_;
  for (size_t idea = 0; idea < idea_count(); ++idea)
    if (universal_of(idea % shape_count(), least_)) law.likely += belief.weights[idea];
  for (const auto& speed : speeds_) law.trials += places_[speed.choice].kind == kind;
  const auto estimate = [&](auto&& value_of) {
    double sum = 0, mean = 0, square = 0;
    for (size_t idea = 0; idea < idea_count(); ++idea) {
      const auto universal = universal_of(idea % shape_count(), least_);
      if (!universal) continue;
      const double value = value_of(idea, *universal), weight = belief.weights[idea] + 1e-300;
      sum += weight;
      mean += weight * value;
      square += weight * value * value;
    }
    mean /= sum;
    return Estimate{mean, std::sqrt(std::max(square / sum - mean * mean, 0.0))};
  };
  law.serial = estimate([](size_t, const Universal& one) { return one.serial; });
  law.crosstalk = estimate([](size_t, const Universal& one) { return one.crosstalk; });
  for (Estimate* part : {&law.serial, &law.crosstalk})
    part->sd = std::max(part->sd, kGridStep * part->value);
  const double n = size_of(belief.choices.front());
  const Estimate one = estimate([&](size_t idea, const Universal&) {
    return belief.means[idea * belief.choices.size()] -
           log_speedup(idea % shape_count(), n, least_);
  });
  law.one = {std::exp(one.value), std::sqrt(one.sd * one.sd + belief.covariances[1][0])};
  return law;
}

ScalingBelief::Draws ScalingBelief::draw(size_t worlds, std::mt19937_64& engine) const {
  Draws draws;
  draws.speeds.assign(choices_.size(), std::vector<double>(worlds));
  draws.errors.resize(worlds);
  double upto = 0;
  size_t from = 0;
  for (size_t idea = 0; idea < jobs_.size(); ++idea) {
    upto += jobs_[idea] * static_cast<double>(worlds);
    const size_t to = idea + 1 == jobs_.size()
                          ? worlds
                          : std::min(worlds, static_cast<size_t>(std::lround(upto)));
    for (size_t world = from; world < to; ++world)
      draws.errors[world] = kErrors[idea / shape_count()];
    for (size_t kind = 0; from < to && kind < kinds_.size(); ++kind)
      draw_kind(kind, idea, from, to, engine, draws);
    from = std::max(from, to);
  }
  return draws;
}

void ScalingBelief::draw_kind(size_t kind, size_t idea, size_t from, size_t to,
                              std::mt19937_64& engine, Draws& draws) const {
  const KindBelief& belief = kinds_[kind];
  const size_t error = idea / shape_count(), size = belief.choices.size();
  const VectorXd weights = alike()
                               .row(static_cast<Index>(idea % shape_count()))
                               .transpose()
                               .cwiseProduct(part_of(evidence_[kind], error));
  std::vector<double> upto(shape_count());
  std::partial_sum(weights.begin(), weights.end(), upto.begin());
  MatrixXd covariance = Eigen::Map<const MatrixXd>(
      belief.covariances[error].data(), static_cast<Index>(size), static_cast<Index>(size));
  covariance.diagonal().array() += 1e-9;
  const MatrixXd root = covariance.llt().matrixL();
  std::uniform_real_distribution<> uniform(0, upto.back());
  std::normal_distribution<> normal;
  VectorXd noise(static_cast<Index>(size));
  for (size_t world = from; world < to; ++world) {
    const auto found = std::lower_bound(upto.begin(), upto.end() - 1, uniform(engine));
    const size_t shape = static_cast<size_t>(found - upto.begin());
    const double* means = &belief.means[(error * shape_count() + shape) * size];
    for (double& one : noise) one = normal(engine);
    noise = root * noise;
    for (size_t at = 0; at < size; ++at)
      draws.speeds[belief.choices[at]][world] = means[at] + noise[static_cast<Index>(at)];
  }
}

}  // namespace assay::cluster
