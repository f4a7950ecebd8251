// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <assay/cluster/trial_choices.h>

namespace assay::cluster {

/// How fast a choice was in a trial that worked.
struct Speed {
  size_t choice = 0;      ///< index
  double throughput = 0;  ///< units of work in a second, > 0
  double error = 0;       ///< relative standard error, as measured; 0: not known
};

/// A number that is not known for certain.
struct Estimate {
  double value = 0;
  double sd = 0;
};

/// throughput(n) = one * n / (1 + serial * (n - 1) + crosstalk * n * (n - 1)): a share of the work
/// that cannot be divided, and what GPUs wait for each other.
struct Law {
  std::string kind;
  Estimate one;  ///< throughput of one GPU; its sd is relative
  Estimate serial;
  Estimate crosstalk;
  size_t trials = 0;  ///< 0: all is taken from other kinds, and `one` is a guess
  double likely = 0;  ///< that it scales so, and in none of the other ways
  double part = 1;    ///< what counts as one: less where parts of one were asked about
};

/// What is believed of the throughput of all counts of a kind: for each idea of how it scales and
/// how exact trials are, how likely it is, and the logarithm of the throughput as a Gaussian around
/// that idea, since no real job follows a law exactly.
struct KindBelief {
  std::vector<size_t> choices;  ///< indices of this kind
  std::vector<double> weights;  ///< of each idea; their sum is 1
  std::vector<double> means;    ///< [idea * choices + choice], natural logarithms
  /// [noise][choice * choices + choice]: all ideas of the same noise have the same.
  std::vector<std::vector<double>> covariances;

  double mean(size_t at) const;
  double variance(size_t at) const;
};

/// Learns from trials how kinds of GPUs scale and how exact trials are. Kinds are thought to scale
/// alike but not equally, and the speed of one GPU of a kind tells little of another's. Pure and
/// deterministic; thread-safe.
class ScalingBelief {
 public:
  /// Prices are a hint: dearer kinds tend to be faster.
  ScalingBelief(std::vector<Choice> choices, std::span<const Speed> speeds,
                const Prices& prices = {});

  const std::vector<Choice>& choices() const { return choices_; }

  /// Median throughput and relative standard deviation.
  Estimate throughput(size_t choice) const;
  /// The law that fits a kind best, whether or not another shape would fit better.
  Law law(size_t kind) const;
  const std::vector<KindBelief>& kinds() const { return kinds_; }

  /// Worlds as they may be, each as likely as the belief says.
  struct Draws {
    std::vector<std::vector<double>> speeds;  ///< [choice][world], natural logarithms
    std::vector<double> errors;               ///< [world]: relative error of a trial
  };
  Draws draw(size_t worlds, std::mt19937_64& engine) const;

 private:
  struct Place {
    size_t kind = 0;
    size_t at = 0;
  };
  /// What a kind's throughput of one is thought to be, if a way to scale is the right one: where
  /// more are slower, what was measured of many tells of a faster one.
  struct Level {
    std::vector<double> means;  ///< of each idea
    double sd = 0;
  };
  void find_kinds();
  void learn_all(const std::function<Level(size_t)>& level);
  /// Its count, in the least one where that is a part of one.
  double size_of(size_t choice) const;
  KindBelief learn(size_t kind, const Level& level) const;
  void share();
  Level level_of(size_t kind, const Prices& prices) const;
  void draw_kind(size_t kind, size_t idea, size_t from, size_t to, std::mt19937_64& engine,
                 Draws& draws) const;

  std::vector<Choice> choices_;
  std::vector<Speed> speeds_;
  std::vector<Place> places_;
  double part_ = 1;
  double least_ = 1;  ///< of all sizes
  std::vector<KindBelief> kinds_;
  std::vector<std::vector<double>> evidence_;  ///< [kind][idea]: how well it explains its trials
  std::vector<double> jobs_;                   ///< how likely each idea is of the job as a whole
};

}  // namespace assay::cluster
