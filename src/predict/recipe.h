// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <assay/base/result.h>
#include <assay/model/workload.h>
#include <assay/predict/mapping.h>

namespace assay::predict {

/// The numbers that are known of a model, by which recipes are written: those of its workload and
/// then the old counts.
size_t column_count();
std::string_view column_name(size_t column);
/// Those of the workload are 0 where it is not known.
std::vector<double> column_values(const model::Counts& counts, const model::Workload* workload);
std::vector<double> count_values(const model::Counts& counts);
/// From as many values as count_values gives.
model::Counts counts_of(std::span<const double> values);

/// A formula over those numbers.
struct Formula {
  struct Part {
    size_t column = 0;
    double sign = 1;
  };
  std::string text;
  Transform transform = Transform::as_is;
  std::vector<Part> sum;
  std::vector<Part> whole;
  double scale = 1;

  /// Finite for finite numbers: logarithms of what has none, and shares of nothing, are as those of
  /// next to nothing.
  double of(const std::vector<double>& columns) const;
  /// What it is about, for people: "macs", "share of bytes depthwise".
  std::string words() const;
};
Result<Formula> make_formula(const Feature& feature);

/// What is made of a model's numbers: what it is like, and what its time is spent on.
struct Recipe {
  std::vector<Formula> features;
  std::vector<Formula> costs;
};
Result<Recipe> make_recipe(const std::vector<std::string>& features,
                           const std::vector<std::string>& costs);
/// What is used unless a mapping has features of its own.
const Recipe& workload_recipe();
/// For callers that know the old counts alone.
const Recipe& counts_recipe();

}  // namespace assay::predict
