// SPDX-License-Identifier: Apache-2.0
#pragma once

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
};

/// What is believed of the throughput of all counts of a kind: for each of a grid of laws how
/// likely it is, and the logarithm of the throughput as a Gaussian around that law, since no real
/// job follows a law exactly. All Gaussians have the same covariance.
struct KindBelief {
  std::vector<size_t> choices;             ///< indices of this kind
  std::vector<double> weights;             ///< of each law; their sum is 1
  std::vector<std::vector<double>> means;  ///< [law][choice of this kind], natural logarithms
  std::vector<double> covariance;          ///< [choice * choices + choice]

  double mean(size_t at) const;
  double variance(size_t at) const;
};

/// Learns laws from trials. Kinds of GPUs are thought to scale alike but not equally, and the speed
/// of one GPU of a kind tells little of another's. Pure and deterministic; thread-safe.
class ScalingBelief {
 public:
  /// Prices are a hint: dearer kinds tend to be faster.
  ScalingBelief(std::vector<Choice> choices, std::span<const Speed> speeds,
                const Prices& prices = {});

  const std::vector<Choice>& choices() const { return choices_; }
  const std::vector<KindBelief>& kinds() const { return kinds_; }
  /// Of which kind a choice is, as an index of kinds(), and where it is there.
  size_t kind_of(size_t choice) const { return places_[choice].kind; }
  size_t place_of(size_t choice) const { return places_[choice].at; }

  /// Median throughput and relative standard deviation.
  Estimate throughput(size_t choice) const;
  Law law(size_t kind) const;

 private:
  struct Place {
    size_t kind = 0;
    size_t at = 0;
  };
  KindBelief learn(size_t kind) const;
  void share(const Prices& prices);

  std::vector<Choice> choices_;
  std::vector<Speed> speeds_;
  std::vector<Place> places_;
  std::vector<KindBelief> kinds_;
  std::vector<std::vector<double>> priors_;  ///< [kind][law], logarithms
  std::vector<double> levels_;               ///< what a kind's throughput of one is thought to be
  std::vector<double> level_sds_;
};

}  // namespace assay::cluster
