// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <assay/base/result.h>
#include <assay/predict/grid.h>

namespace assay::predict {

/// How trees are grown. The defaults suit a few thousand rows.
struct BoostSettings {
  int rounds = 200;
  int depth = 6;
  double rate = 0.05;
  double least_weight = 5;  ///< of a leaf: the second derivatives of its rows, summed
  double row_share = 0.7;   ///< drawn for each tree
  double column_share = 0.7;
  double ridge = 1;
  int bins = 32;  ///< values of a column that splits may lie between
  uint64_t seed = 0;
  /// Of each column: 1 where what is told must not fall when it rises, -1 where it must not rise, 0
  /// where it may do both; empty: all may.
  std::vector<int> directions = {};
};

/// Sets each row's first and second derivative of the loss by what is told of it so far.
using Gradient = std::function<void(std::span<const float> told, std::span<float> first,
                                    std::span<float> second)>;

/// What is told of rows by XGBoost's trees. Trains in one thread; the same rows, settings and seed
/// give the same trees. Trained or read only where libxgboost can be loaded; what only tells times
/// takes Trees (trees.h), which needs no library. A NaN among the rows is a value that is missing.
class Booster {
 public:
  /// From zero, by a loss of one's own.
  static Result<Booster> train(const Grid& rows, const Gradient& gradient,
                               const BoostSettings& settings);
  /// From the labels' mean, by squared differences.
  static Result<Booster> train(const Grid& rows, std::span<const double> labels,
                               const BoostSettings& settings);
  /// From the JSON of XGBoost's own form; keys at its top that XGBoost does not know are let be.
  static Result<Booster> parse(std::string_view text);

  Result<std::string> text() const;
  Result<std::vector<float>> tell(const Grid& rows) const;
  /// By how much each column lowered the loss, summed over all splits.
  Result<std::vector<double>> importance() const;

 private:
  struct Free {
    void operator()(void* handle) const;
  };
  using Handle = std::unique_ptr<void, Free>;
  explicit Booster(Handle handle) : handle_(std::move(handle)) {}
  static Result<Booster> make(void* rows, const BoostSettings& settings, double start);

  Handle handle_;
};

}  // namespace assay::predict
