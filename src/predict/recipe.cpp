// SPDX-License-Identifier: Apache-2.0
#include "recipe.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

#include <assay/base/wording.h>

namespace assay::predict {
namespace {

constexpr size_t kWorkloads = model::kWorkloadColumns.size();
constexpr std::array<std::string_view, 7> kCounts = {
    "conv_layers",      "pool_layers",      "fc_layers",        "filter_details",
    "total_parameters", "model_input_size", "model_output_size"};
constexpr double kNextToNothing = 1e-9;

// Sums that several formulas use.
constexpr const char* kMacs =
    "macs_conv1x1 + macs_conv3x3 + macs_conv_other + macs_depthwise + macs_grouped + macs_matmul + "
    "macs_other";
constexpr const char* kBytes = "bytes_conv + bytes_depthwise + bytes_matmul + bytes_other";

double total(const std::vector<Formula::Part>& parts, const std::vector<double>& columns) {
  double sum = 0;
  for (const auto& part : parts) sum += part.sign * columns[part.column];
  return sum;
}

/// "macs" of a sum of several columns whose names begin with it.
std::string words_of(const std::vector<Formula::Part>& parts) {
  const auto kind = [](const Formula::Part& part) {
    return column_name(part.column).substr(0, column_name(part.column).find('_'));
  };
  if (parts.size() > 2 && std::all_of(parts.begin(), parts.end(), [&](const auto& part) {
        return kind(part) == kind(parts.front());
      }))
    return std::string(kind(parts.front()));
  std::string words;
  for (const auto& part : parts) {
    if (!words.empty()) words += part.sign > 0 ? " + " : " - ";
    words += column_name(part.column);
  }
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

Result<std::vector<Formula::Part>> parts_of(const Sum& sum, const std::string& text) {
  std::vector<Formula::Part> parts;
  for (const auto& term : sum) {
    size_t column = 0;
    while (column < column_count() && column_name(column) != term.column) ++column;
    if (column == column_count())
      return bad_input(fmt::format("{} in {} is no number that is known of a model",
                                   in_quotes(term.column), in_quotes(text)));
    parts.push_back({column, term.sign});
  }
  return parts;
}

Result<std::vector<Formula>> formulas_of(const std::vector<std::string>& texts) {
  std::vector<Formula> formulas;
  for (const auto& text : texts) {
    ASSAY_TRY(const auto feature, parse_feature(text));
    ASSAY_TRY(auto formula, make_formula(feature));
    formulas.push_back(std::move(formula));
  }
  return formulas;
}

}  // namespace

size_t column_count() {
  return kWorkloads + kCounts.size();
}

std::string_view column_name(size_t column) {
  return column < kWorkloads ? model::kWorkloadColumns.at(column).name
                             : kCounts.at(column - kWorkloads);
}

std::vector<double> count_values(const model::Counts& counts) {
  return {static_cast<double>(counts.conv_layers),
          static_cast<double>(counts.pool_layers),
          static_cast<double>(counts.fc_layers),
          counts.filter_details,
          counts.total_parameters,
          counts.model_input_size,
          counts.model_output_size};
}

model::Counts counts_of(std::span<const double> values) {
  // What does not fit into 64 bits is as many as do.
  const auto whole = [&](size_t i) {
    return values[i] >= 0x1p63 ? uint64_t{1} << 63U
                               : static_cast<uint64_t>(std::max(values[i], 0.0));
  };
  model::Counts counts;
  counts.conv_layers = whole(0);
  counts.pool_layers = whole(1);
  counts.fc_layers = whole(2);
  counts.filter_details = values[3];
  counts.total_parameters = values[4];
  counts.model_input_size = values[5];
  counts.model_output_size = values[6];
  return counts;
}

std::vector<double> column_values(const model::Counts& counts, const model::Workload* workload) {
  std::vector<double> values;
  values.reserve(column_count());
  for (const auto& column : model::kWorkloadColumns)
    values.push_back(workload == nullptr ? 0 : workload->*column.value);
  for (const double value : count_values(counts)) values.push_back(value);
  return values;
}

double Formula::of(const std::vector<double>& columns) const {
  const double value = total(sum, columns);
  if (transform == Transform::as_is) return value;
  if (transform == Transform::log) return std::log(std::max(value, kNextToNothing));
  if (transform == Transform::log1p) return std::log1p(std::max(value, 0.0) / scale);
  const double all = total(whole, columns);
  const double share = all > 0 ? std::clamp(value / all, 0.0, 1.0) : 0;
  return transform == Transform::share ? share : std::sqrt(share);
}

std::string Formula::words() const {
  const bool is_share = transform == Transform::share || transform == Transform::root_share;
  return (is_share ? "share of " : "") + words_of(sum);
}

Result<Formula> make_formula(const Feature& feature) {
  Formula formula{feature.text, feature.transform, {}, {}, feature.scale};
  ASSAY_TRY(formula.sum, parts_of(feature.sum, feature.text));
  ASSAY_TRY(formula.whole, parts_of(feature.whole, feature.text));
  return formula;
}

Result<Recipe> make_recipe(const std::vector<std::string>& features,
                           const std::vector<std::string>& costs) {
  Recipe recipe;
  ASSAY_TRY(recipe.features, formulas_of(features));
  ASSAY_TRY(recipe.costs, formulas_of(costs));
  return recipe;
}

const Recipe& workload_recipe() {
  const auto share = [](const char* part, const char* whole) {
    return fmt::format("root_share({}, {})", part, whole);
  };
  static const Recipe kRecipe = *make_recipe(
      {fmt::format("log1p({}, 1e4)", kMacs), "log1p(activation_bytes, 1e3)",
       "log1p(weight_bytes, 1e3)", "log1p(peak_activation_bytes, 1e3)",
       share("macs_conv1x1", kMacs), share("macs_conv3x3", kMacs), share("macs_depthwise", kMacs),
       share("macs_grouped", kMacs), share("macs_matmul", kMacs), share("macs_other", kMacs),
       share("macs_few_channels", kMacs), share("bytes_depthwise", kBytes),
       share("bytes_other", kBytes), "log1p(operators)", "log1p(conv_operators)",
       "log1p(depthwise_operators)", "log1p(matmul_operators)"},
      {"operators", "macs_conv1x1", "macs_conv3x3", "macs_conv_other", "macs_depthwise",
       "macs_grouped", "macs_matmul", "macs_other", "macs_few_channels", "bytes_conv",
       "bytes_depthwise", "bytes_matmul", "bytes_other", "weight_bytes"});
  return kRecipe;
}

const Recipe& counts_recipe() {
  static const Recipe kRecipe =
      *make_recipe({"log1p(conv_layers)", "log1p(pool_layers)", "log1p(fc_layers)",
                    "log1p(filter_details)", "log1p(total_parameters, 1e3)",
                    "log1p(model_input_size, 1e3)", "log1p(model_output_size, 10)"},
                   {"conv_layers", "filter_details", "total_parameters", "model_input_size"});
  return kRecipe;
}

}  // namespace assay::predict
