// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include <assay/base/result.h>

namespace assay::predict {

/// The trees of a Booster, to be asked row by row without libxgboost. Tells what it tells, to the
/// precision of a float. Thread-safe.
class Trees {
 public:
  /// From XGBoost's JSON. Trees that say no plain number (classes, ranks) or that split by
  /// categories are refused, as is all that does not hold together.
  static Result<Trees> parse(const nlohmann::json& document);

  size_t columns() const { return columns_; }
  size_t count() const { return roots_.size(); }
  /// `row` has a value for each column; NaN where it is missing.
  float tell(std::span<const float> row) const;
  /// The same for many rows, one behind the other, in half of the time.
  void tell(std::span<const float> rows, std::span<float> told) const;

 private:
  /// To the child at `left` unless the value at `place` is at least `condition`, and then to the
  /// one beside it. A leaf's condition is NaN and it is its own child, so that a walk may go on
  /// there.
  struct Node {
    float condition = 0;
    uint32_t place = 0;  ///< in a row as walks read it
    uint32_t left = 0;
    float value = 0;  ///< of a leaf
  };
  struct Root {
    uint32_t node = 0;
    uint32_t depth = 0;
  };
  friend class TreeReader;

  float start_ = 0;
  size_t columns_ = 0;
  std::vector<Root> roots_;
  std::vector<Node> nodes_;
};

}  // namespace assay::predict
