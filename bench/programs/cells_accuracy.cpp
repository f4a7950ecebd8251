// SPDX-License-Identifier: Apache-2.0
// How well times of 3,000 cells of NAS-Bench-201 are told on one device, 10-fold, as JSON:
//   cells_accuracy TABLE DEVICE SEED
// and without DEVICE and SEED, the devices of the table.
#include "cells.h"

#include <algorithm>
#include <boosted.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include <assay/predict/folds.h>
#include <assay/predict/intervals.h>
#include <assay/predict/measures.h>

namespace {

using namespace assay;
using namespace assay::bench;
using namespace assay::predict;
using nlohmann::json;
using Indices = std::vector<size_t>;

constexpr size_t kCells = 3000;
constexpr size_t kFolds = 10;
constexpr double kHeld = 0.8;

std::vector<std::string> kinds_of(const Cells& cells, const Indices& rows) {
  std::vector<std::string> kinds;
  for (const size_t row : rows) kinds.emplace_back(kind_of(cells, row));
  return kinds;
}
Grid rows_of(const Grid& grid, const Indices& rows) {
  Grid part(0, grid.columns);
  for (const size_t row : rows) {
    const auto values = grid.row(row);
    part.values.insert(part.values.end(), values.begin(), values.end());
    ++part.rows;
  }
  return part;
}

class Device {
 public:
  Device(const Cells& cells, size_t device, uint64_t seed)
      : cells_(cells), device_(device), chosen_(shuffled(cells.edges.size(), seed)) {
    chosen_.resize(std::min(kCells, chosen_.size()));
    std::vector<std::string> classes;
    for (const size_t cell : chosen_) classes.push_back(cells.classes[cell]);
    fold_of_ = grouped_folds(classes, kFolds, seed);
    told_.resize(chosen_.size());
  }

  Result<json> run() {
    for (size_t fold = 0; fold < kFolds; ++fold) ASSAY_CHECK(tell_fold(fold));
    json result = {{"noise", 100 * repeat_noise(cells_, device_, false)},
                   {"noise_connected", 100 * repeat_noise(cells_, device_, true)},
                   {"coverage", 100 * held()}};
    add(result, "", false);
    add(result, "_connected", true);
    return result;
  }

 private:
  Indices places(size_t fold, bool inside) const {
    Indices found;
    for (size_t i = 0; i < chosen_.size(); ++i)
      if ((fold_of_[i] == fold) == inside) found.push_back(i);
    return found;
  }
  Indices cells_at(const Indices& places) const {
    Indices cells;
    for (const size_t place : places) cells.push_back(chosen_[place]);
    return cells;
  }
  double actual(size_t place) const { return cells_.times[device_][chosen_[place]]; }

  Result<void> tell_fold(size_t fold) {
    const Indices known = cells_at(places(fold, false));
    ManyTimes times{rows_of(cells_.costs, known),
                    rows_of(cells_.features, known),
                    {},
                    {},
                    kinds_of(cells_, known)};
    for (const size_t cell : known) {
      times.seconds.push_back(cells_.times[device_][cell]);
      times.groups.push_back(cells_.classes[cell]);
    }
    ASSAY_TRY(const auto learned, Boosted::learn(times, fold));
    const Indices asked_places = places(fold, true);
    const Indices asked = cells_at(asked_places);
    const auto logs = learned.tell(rows_of(cells_.costs, asked), rows_of(cells_.features, asked),
                                   kinds_of(cells_, asked));
    for (size_t i = 0; i < logs.size(); ++i) told_[asked_places[i]] = std::exp(logs[i]);
    return {};
  }

  /// How often the intervals hold that the errors in the other folds give.
  double held() const {
    size_t count = 0;
    for (size_t fold = 0; fold < kFolds; ++fold) {
      Grid errors(1, 0);
      for (const size_t place : places(fold, false)) {
        errors.values.push_back(std::log(told_[place] / actual(place)));
        ++errors.columns;
      }
      const double width = half_widths(errors, kHeld)[0];
      for (const size_t place : places(fold, true))
        if (std::abs(std::log(told_[place] / actual(place))) <= width) ++count;
    }
    return static_cast<double>(count) / static_cast<double>(chosen_.size());
  }

  void add(json& result, const std::string& suffix, bool only_connected) const {
    std::vector<Judged> all;
    for (size_t i = 0; i < chosen_.size(); ++i)
      if (!only_connected || cells_.connected[chosen_[i]]) all.push_back({told_[i], actual(i)});
    const Accuracy found = accuracy(all);
    result["mape" + suffix] = 100 * found.mean_relative_error;
    result["within" + suffix] = 100 * found.within_tenth;
    result["spearman" + suffix] = found.spearman;
  }

  const Cells& cells_;
  size_t device_;
  Indices chosen_;
  Indices fold_of_;
  std::vector<double> told_;
};

Result<json> answer(const std::vector<std::string>& words) {
  ASSAY_TRY(const auto cells, read_cells(words.at(0)));
  if (words.size() < 3) return json(cells.devices);
  const auto device = std::find(cells.devices.begin(), cells.devices.end(), words[1]);
  if (device == cells.devices.end()) return bad_input("no such device");
  return Device(cells, static_cast<size_t>(device - cells.devices.begin()),
                std::strtoull(words[2].c_str(), nullptr, 10))
      .run();
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty()) {
    std::fputs("usage: cells_accuracy TABLE [DEVICE SEED]\n", stderr);
    return 2;
  }
  const auto result = answer(words);
  if (!result) {
    std::fprintf(stderr, "%s\n", result.error().message.c_str());
    return 1;
  }
  std::printf("%s\n", result->dump().c_str());
  return 0;
}
