// SPDX-License-Identifier: Apache-2.0
// How well the order of cells of NAS-Bench-201 is told on devices that were never seen, by some
// runs on each, in the split of HELP's authors, as JSON:
//   cells_new_device TABLE RUNS
#include "cells.h"

#include <algorithm>
#include <array>
#include <boosted.h>
#include <by_sources.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include <assay/predict/measures.h>

namespace {

using namespace assay;
using namespace assay::bench;
using namespace assay::predict;
using nlohmann::json;
using Indices = std::vector<size_t>;

constexpr std::array kTrain = {"1080ti_1",    "1080ti_32",      "1080ti_256",
                               "silver_4114", "silver_4210r",   "samsung_a50",
                               "pixel3",      "essential_ph_1", "samsung_s7"};
constexpr std::array kValidation = {"titanx_1", "titanx_32", "titanx_256", "gold_6240"};
constexpr std::array kTest = {"titan_rtx_256", "gold_6226", "pixel2", "raspi4", "eyeriss", "fpga"};
constexpr size_t kSourceRuns = 900;  ///< on each device that is known
constexpr size_t kAsked = 3000;
constexpr size_t kAskedToChoose = 800;
constexpr size_t kDraws = 20;
constexpr size_t kDrawsToChoose = 2;

std::string family_of(const std::string& device) {
  return device.substr(0, device.find('_'));
}

class Split {
 public:
  Split(const Cells& cells, size_t runs)
      : cells_(cells), runs_(runs), asked_(shuffled(cells.edges.size(), 5)) {
    asked_.resize(kAsked);
    for (const char* name : kTrain) sources_.emplace_back(name);
    for (const char* name : kValidation) sources_.emplace_back(name);
  }

  Result<json> run() {
    for (const auto& source : sources_) ASSAY_CHECK(learn_source(source));
    const Mix mix = best_mix();
    json result = {{"mix", {mix.sources, mix.features}}};
    add(result, "train", kTrain.size(), mix);
    add(result, "train_and_validation", sources_.size(), mix);
    return result;
  }

 private:
  const std::vector<double>& times_of(const std::string& device) const {
    const auto found = std::find(cells_.devices.begin(), cells_.devices.end(), device);
    return cells_.times.at(static_cast<size_t>(found - cells_.devices.begin()));
  }

  /// What the device takes for every cell, as learned from some.
  Result<void> learn_source(const std::string& device) {
    const auto order = shuffled(cells_.edges.size(), 100 + learned_.size());
    ManyTimes times{Grid(0, cells_.costs.columns), Grid(0, cells_.features.columns), {}, {}, {}};
    for (size_t i = 0; i < kSourceRuns; ++i) {
      const size_t cell = order[i];
      append(times.costs, cells_.costs.row(cell));
      append(times.features, cells_.features.row(cell));
      times.seconds.push_back(times_of(device)[cell]);
      times.groups.push_back(cells_.classes[cell]);
      times.kinds.emplace_back(kind_of(cells_, cell));
    }
    ASSAY_TRY(const auto found, Boosted::learn(times));
    std::vector<std::string> kinds;
    for (size_t cell = 0; cell < cells_.edges.size(); ++cell)
      kinds.emplace_back(kind_of(cells_, cell));
    learned_.push_back(found.tell(cells_.costs, cells_.features, kinds));
    for (double& time : learned_.back()) time = std::exp(time);
    return {};
  }
  static void append(Grid& grid, std::span<const double> row) {
    grid.values.insert(grid.values.end(), row.begin(), row.end());
    ++grid.rows;
  }

  Grid grid_of(const Indices& sources) const {
    Grid grid(0, cells_.edges.size());
    for (const size_t source : sources) append(grid, learned_[source]);
    return grid;
  }

  /// The rank correlation, one for each draw of runs.
  std::vector<double> ranks(const Grid& sources, const std::string& device, const Mix& mix,
                            size_t draws, size_t asked) const {
    const auto& times = times_of(device);
    std::vector<double> found;
    for (size_t draw = 0; draw < draws; ++draw) {
      const auto order = shuffled(times.size(), 1000 + draw);
      std::vector<SecondsOf> runs;
      for (size_t i = 0; i < runs_; ++i) runs.push_back({order[i], times[order[i]]});
      const auto told = tell_by_sources(sources, cells_.summary, mix, runs);
      std::vector<double> a;
      std::vector<double> b;
      for (size_t i = 0; i < asked; ++i) {
        a.push_back(told[asked_[i]]);
        b.push_back(times[asked_[i]]);
      }
      found.push_back(spearman(a, b));
    }
    return found;
  }

  /// The one by which known devices are told best without their own family.
  Mix best_mix() const {
    Mix best;
    double most = -1;
    for (const double sources : {1.0, 3.0}) {
      for (const double features : {.0001, .0003, .001, .003, .01}) {
        const Mix mix{sources, features};
        double sum = 0;
        for (const auto& device : sources_) sum += mean(told_without_family(device, mix));
        if (sum <= most) continue;
        most = sum;
        best = mix;
      }
    }
    return best;
  }
  std::vector<double> told_without_family(const std::string& device, const Mix& mix) const {
    Indices others;
    for (size_t i = 0; i < sources_.size(); ++i)
      if (family_of(sources_[i]) != family_of(device)) others.push_back(i);
    return ranks(grid_of(others), device, mix, kDrawsToChoose, kAskedToChoose);
  }
  static double mean(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value / static_cast<double>(values.size());
    return sum;
  }

  void add(json& result, const char* name, size_t sources, const Mix& mix) const {
    Indices first(sources);
    for (size_t i = 0; i < sources; ++i) first[i] = i;
    const Grid grid = grid_of(first);
    json devices;
    std::vector<double> draws(kDraws);
    for (const char* device : kTest) {
      const auto found = ranks(grid, device, mix, kDraws, kAsked);
      devices[device] = mean(found);
      for (size_t i = 0; i < kDraws; ++i) draws[i] += found[i] / kTest.size();
    }
    double squares = 0;
    for (const double draw : draws) squares += std::pow(draw - mean(draws), 2) / kDraws;
    result[name] = {
        {"spearman", mean(draws)}, {"deviation", std::sqrt(squares)}, {"devices", devices}};
  }

  const Cells& cells_;
  size_t runs_;
  Indices asked_;
  std::vector<std::string> sources_;
  std::vector<std::vector<double>> learned_;
};

Result<json> answer(const std::vector<std::string>& words) {
  ASSAY_TRY(const auto cells, read_cells(words[0]));
  if (cells.edges.size() < kAsked) return bad_input("too few cells");
  return Split(cells, std::strtoull(words[1].c_str(), nullptr, 10)).run();
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() != 2) {
    std::fputs("usage: cells_new_device TABLE RUNS\n", stderr);
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
