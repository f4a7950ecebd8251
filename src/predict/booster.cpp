// SPDX-License-Identifier: Apache-2.0
#include "booster.h"

#include "xgboost.h"

#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <utility>

namespace assay::predict {
namespace {

struct FreeRows {
  void operator()(void* handle) const { xgboost().rows_free(handle); }
};
using Rows = std::unique_ptr<void, FreeRows>;

Result<Rows> rows_of(const Grid& grid) {
  ASSAY_CHECK(xgboost().loaded);
  if (grid.rows == 0 || grid.columns == 0)
    return bad_input("there are no rows for XGBoost's trees");
  const std::vector<float> values(grid.values.begin(), grid.values.end());
  void* handle = nullptr;
  ASSAY_CHECK(
      xgboost().check(xgboost().rows_create(values.data(), grid.rows, grid.columns,
                                            std::numeric_limits<float>::quiet_NaN(), &handle, 1)));
  return Rows(handle);
}

/// What is told of the rows, before any link function; valid until the next call.
Result<std::span<const float>> told_of(void* booster, void* rows, bool training) {
  const auto how = fmt::format(
      R"({{"type":1,"training":{},"iteration_begin":0,"iteration_end":0,"strict_shape":false}})",
      training);
  const bst_ulong* shape = nullptr;
  bst_ulong dimensions = 0;
  const float* told = nullptr;
  ASSAY_CHECK(
      xgboost().check(xgboost().predict(booster, rows, how.c_str(), &shape, &dimensions, &told)));
  size_t count = 1;
  for (bst_ulong i = 0; i < dimensions; ++i) count *= shape[i];
  return std::span(told, count);
}

std::vector<std::pair<const char*, std::string>> parameters_of(const BoostSettings& settings,
                                                               double start) {
  return {{"verbosity", "0"},
          {"nthread", "1"},
          {"booster", "gbtree"},
          {"tree_method", "hist"},
          {"objective", "reg:squarederror"},
          {"base_score", fmt::format("{}", static_cast<float>(start))},
          {"max_depth", fmt::format("{}", settings.depth)},
          {"max_bin", fmt::format("{}", settings.bins)},
          {"eta", fmt::format("{}", settings.rate)},
          {"lambda", fmt::format("{}", settings.ridge)},
          {"min_child_weight", fmt::format("{}", settings.least_weight)},
          {"subsample", fmt::format("{}", settings.row_share)},
          {"colsample_bytree", fmt::format("{}", settings.column_share)},
          {"seed", fmt::format("{}", settings.seed)},
          {"seed_per_iteration", "1"},
          {"monotone_constraints", fmt::format("({})", fmt::join(settings.directions, ","))}};
}

/// The column behind one of XGBoost's own names, "f12".
size_t column_of(std::string_view name) {
  size_t column = 0;
  std::from_chars(name.data() + 1, name.data() + name.size(), column);
  return column;
}

}  // namespace

void Booster::Free::operator()(void* handle) const {
  xgboost().free(handle);
}

Result<Booster> Booster::make(void* rows, const BoostSettings& settings, double start) {
  void* handle = nullptr;
  ASSAY_CHECK(xgboost().check(xgboost().create(&rows, 1, &handle)));
  Booster booster{Handle(handle)};
  for (const auto& [name, value] : parameters_of(settings, start))
    ASSAY_CHECK(xgboost().check(xgboost().set_parameter(handle, name, value.c_str())));
  return booster;
}

Result<Booster> Booster::train(const Grid& rows, const Gradient& gradient,
                               const BoostSettings& settings) {
  ASSAY_TRY(const Rows matrix, rows_of(rows));
  ASSAY_TRY(auto booster, make(matrix.get(), settings, 0));
  std::vector<float> first(rows.rows);
  std::vector<float> second(rows.rows);
  for (int round = 0; round < settings.rounds; ++round) {
    ASSAY_TRY(const auto told, told_of(booster.handle_.get(), matrix.get(), true));
    gradient(told, first, second);
    ASSAY_CHECK(xgboost().check(xgboost().boost_by_gradient(
        booster.handle_.get(), matrix.get(), first.data(), second.data(), first.size())));
  }
  return booster;
}

Result<Booster> Booster::train(const Grid& rows, std::span<const double> labels,
                               const BoostSettings& settings) {
  ASSAY_TRY(const Rows matrix, rows_of(rows));
  double mean = 0;
  for (const double label : labels) mean += label / static_cast<double>(labels.size());
  const std::vector<float> values(labels.begin(), labels.end());
  ASSAY_CHECK(xgboost().check(
      xgboost().rows_set_floats(matrix.get(), "label", values.data(), values.size())));
  ASSAY_TRY(auto booster, make(matrix.get(), settings, mean));
  for (int round = 0; round < settings.rounds; ++round)
    ASSAY_CHECK(
        xgboost().check(xgboost().boost_by_objective(booster.handle_.get(), round, matrix.get())));
  return booster;
}

Result<Booster> Booster::parse(std::string_view text) {
  ASSAY_CHECK(xgboost().loaded);
  void* handle = nullptr;
  ASSAY_CHECK(xgboost().check(xgboost().create(nullptr, 0, &handle)));
  Booster booster{Handle(handle)};
  for (const char* name : {"verbosity", "nthread"})
    ASSAY_CHECK(xgboost().check(
        xgboost().set_parameter(handle, name, std::string_view(name) == "nthread" ? "1" : "0")));
  ASSAY_CHECK(xgboost().check(xgboost().load(handle, text.data(), text.size())));
  return booster;
}

Result<std::string> Booster::text() const {
  bst_ulong length = 0;
  const char* bytes = nullptr;
  ASSAY_CHECK(
      xgboost().check(xgboost().save(handle_.get(), R"({"format":"json"})", &length, &bytes)));
  return std::string(bytes, length);
}

Result<std::vector<float>> Booster::tell(const Grid& rows) const {
  if (rows.rows == 0) return std::vector<float>();
  ASSAY_TRY(const Rows matrix, rows_of(rows));
  ASSAY_TRY(const auto told, told_of(handle_.get(), matrix.get(), false));
  return std::vector<float>(told.begin(), told.end());
}

Result<std::vector<double>> Booster::importance() const {
  bst_ulong columns = 0;
  ASSAY_CHECK(xgboost().check(xgboost().feature_count(handle_.get(), &columns)));
  bst_ulong count = 0;
  const char** names = nullptr;
  bst_ulong dimensions = 0;
  const bst_ulong* shape = nullptr;
  const float* scores = nullptr;
  ASSAY_CHECK(
      xgboost().check(xgboost().feature_score(handle_.get(), R"({"importance_type":"total_gain"})",
                                              &count, &names, &dimensions, &shape, &scores)));
  std::vector<double> found(columns);
  for (bst_ulong i = 0; i < count; ++i)
    if (const size_t column = column_of(names[i]); column < columns) found[column] = scores[i];
  return found;
}

}  // namespace assay::predict
