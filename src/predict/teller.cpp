// SPDX-License-Identifier: Apache-2.0
#include "teller.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include <assay/base/text.h>

namespace assay::predict {
namespace {

constexpr double kBelieved = 0.5;      ///< of the range that was learned from, beyond either end
constexpr double kMostNumber = 1e25;   ///< whatever a model claims to have
constexpr double kMostLogarithm = 40;  ///< of seconds
constexpr double kSmallPart = 0.1;
constexpr double kDoubtWidth = 0.5;  ///< for each logarithm that it is beyond
constexpr double kMostDoubt = 3;
constexpr double kFar = 2;  ///< times the highest is beyond what was learned from

std::vector<double> bounded(const std::vector<double>& columns) {
  auto found = columns;
  for (double& value : found) value = std::isnan(value) ? 0 : std::clamp(value, 0.0, kMostNumber);
  return found;
}

/// Whether it is a kind of work that most of the model's is not.
bool is_small_part(const std::vector<double>& columns, size_t column) {
  for (const std::string_view kind : {"macs_", "bytes_"}) {
    if (!column_name(column).starts_with(kind)) continue;
    double all = 0;
    for (size_t other = 0; other < columns.size(); ++other)
      if (column_name(other).starts_with(kind)) all += columns[other];
    return columns[column] < kSmallPart * all || all == 0;
  }
  return false;
}

std::string words_of(size_t column) {
  std::string words(column_name(column));
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

}  // namespace

std::vector<double> Teller::tell(const std::vector<double>& columns_asked,
                                 std::span<const model::Piece> pieces) const {
  if (idle.method == Method::pieces && pieces.empty()) return {};
  const auto values = bounded(columns_asked);
  Grid asked(1, recipe.features.size());
  Grid costs(1, recipe.costs.size());
  for (size_t i = 0; i < recipe.features.size(); ++i) {
    const auto& [lowest, highest] = features[i];
    const double more = kBelieved * (highest - lowest + 1);
    asked.at(0, i) = std::clamp(recipe.features[i].of(values), lowest - more, highest + more);
  }
  for (size_t i = 0; i < recipe.costs.size(); ++i)
    costs.at(0, i) = std::max(0.0, recipe.costs[i].of(values));
  auto logs = idle.method == Method::pieces ? tell_idle_by_pieces(idle, pieces, asked, costs)
                                            : tell_idle(idle, asked, costs).values;
  for (double& value : logs) value = std::clamp(value, -kMostLogarithm, kMostLogarithm);
  return logs;
}

size_t find_device(const std::vector<Device>& devices, const std::string& name) {
  const auto found = std::find_if(devices.begin(), devices.end(),
                                  [&](const Device& device) { return device.name == name; });
  return static_cast<size_t>(found - devices.begin());
}

Doubt doubt_of(const Teller& teller, const std::vector<double>& columns, size_t first,
               size_t last) {
  double worst = kFar;
  Doubt doubt;
  for (size_t column = first; column < last; ++column) {
    if (is_small_part(columns, column)) continue;
    const auto& [lowest, highest] = teller.columns[column];
    const double value = columns[column];
    const double above = (value + 1) / (highest + 1);
    const double below = (lowest + 1) / (value + 1);
    const double far = std::max(above, below);
    if (!(far > worst)) continue;
    worst = far;
    doubt.width = std::min(kDoubtWidth * std::log(far / kFar), kMostDoubt);
    doubt.words = fmt::format("{} {}, where the models that were learned from have {} to {}",
                              format_number(value), words_of(column), format_number(lowest),
                              format_number(highest));
  }
  return doubt;
}

}  // namespace assay::predict
