// SPDX-License-Identifier: Apache-2.0
#include "spells.h"

#include <algorithm>
#include <cmath>

namespace assay::analysis {

namespace {

/// So many times it has to go and come back.
constexpr size_t kFewest = 3;
/// The level that it comes back to is the same to this share of what spells differ from it.
constexpr double kSame = 0.3, kSameEach = 0.02;

/// The first levels on the other side of a line.
std::vector<size_t> crossings(const std::vector<Level>& levels, double line) {
  std::vector<size_t> found;
  for (size_t i = 1; i < levels.size(); ++i)
    if ((levels[i].mean > line) != (levels[i - 1].mean > line)) found.push_back(i);
  return found;
}

/// The line between levels that is crossed most.
double most_crossed(const std::vector<Level>& levels) {
  double best = levels.front().mean;
  size_t most = 0;
  for (size_t i = 1; i < levels.size(); ++i) {
    const double line = 0.5 * (levels[i].mean + levels[i - 1].mean);
    const size_t count = crossings(levels, line).size();
    if (count <= most) continue;
    most = count;
    best = line;
  }
  return best;
}

double mean_of(const std::vector<Level>& levels) {
  double sum = 0, length = 0;
  for (const auto& level : levels) {
    sum += level.mean * level.length();
    length += level.length();
  }
  return length > 0 ? sum / length : 0;
}

/// By how much a level differs from the one before it on its side of the line, mostly.
double usual_difference(const std::vector<Level>& levels) {
  std::vector<double> differences;
  for (size_t i = 1; i < levels.size(); ++i)
    differences.push_back(std::abs(levels[i].mean - levels[i - 1].mean));
  if (differences.empty()) return 0;
  const auto middle = differences.begin() + static_cast<ptrdiff_t>(differences.size() / 2);
  std::nth_element(differences.begin(), middle, differences.end());
  return *middle;
}

/// Whether on one side of the line a level is mostly what it was before.
bool come_back(const std::vector<Level>& levels, double line, size_t times) {
  std::vector<Level> above, below;
  for (const auto& level : levels) (level.mean > line ? above : below).push_back(level);
  return std::min(usual_difference(above), usual_difference(below)) <
         std::min(kSame, kSameEach * static_cast<double>(times)) *
             (mean_of(above) - mean_of(below));
}

/// From the first beginning of a spell to the last one.
std::vector<Level> whole_turns(const std::vector<Level>& levels, const std::vector<size_t>& found,
                               double line) {
  const size_t from = levels[found[0]].mean > line ? 0 : 1;
  const size_t turns = (found.size() - 1 - from) / 2;
  return {levels.begin() + static_cast<ptrdiff_t>(found[from]),
          levels.begin() + static_cast<ptrdiff_t>(found[from + 2 * turns])};
}

}  // namespace

std::optional<Spells> spells_of(const std::vector<Level>& levels) {
  if (levels.size() <= 2 * kFewest) return {};
  const double line = most_crossed(levels);
  const auto found = crossings(levels, line);
  if (found.size() < 2 * kFewest || 3 * found.size() < levels.size() ||
      !come_back(levels, line, found.size()))
    return {};
  const auto turns = whole_turns(levels, found, line);
  const double mean = mean_of(turns);
  const auto length = static_cast<double>(turns.back().end - turns.front().begin);
  // What each turn has more than its share.
  double squares = 0, count = 0, more = 0;
  for (size_t i = 0; i < turns.size(); ++i) {
    more += turns[i].length() * (turns[i].mean - mean);
    const bool ends = i + 1 == turns.size() || (turns[i].mean <= line && turns[i + 1].mean > line);
    if (!ends) continue;
    squares += more * more;
    ++count;
    more = 0;
  }
  return Spells{length / count, squares / length};
}

}  // namespace assay::analysis
