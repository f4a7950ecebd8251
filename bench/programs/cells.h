// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <assay/base/result.h>
#include <assay/predict/grid.h>

namespace assay::bench {

/// What runs on the edges 0-1, 0-2, 1-2, 0-3, 1-3 and 2-3 of a cell of NAS-Bench-201: nothing (0),
/// a skip, a 1x1 or 3x3 convolution, an average pool.
using Edges = std::array<int, 6>;

/// Cells with their times in milliseconds on several devices.
struct Cells {
  std::vector<Edges> edges;
  std::vector<std::string> classes;  ///< of cells that are one and the same network
  std::vector<bool> connected;       ///< whether the output depends on the input
  predict::Grid costs;               ///< cells x costs
  predict::Grid features;            ///< cells x features
  predict::Grid summary;             ///< cells x standardized counts
  std::vector<std::string> devices;
  std::vector<std::vector<double>> times;  ///< by device
};
Result<Cells> read_cells(const std::string& file);

/// Two cells that are one network: what differs between their times is noise.
std::vector<std::pair<size_t, size_t>> twins(const Cells& cells);
/// The mean relative error that twins' times have, as if the truth were known; of all, or of the
/// connected ones.
double repeat_noise(const Cells& cells, size_t device, bool only_connected);

/// What Boosted is to look at apart.
const char* kind_of(const Cells& cells, size_t cell);

/// The numbers below `count` in an order that depends on the seed alone.
std::vector<size_t> shuffled(size_t count, uint64_t seed);

}  // namespace assay::bench
