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
/// What lasts for so many times what is usual, at an end, is no spell.
constexpr double kLong = 7;

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

double usual_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// By how much a level differs from the one before it on its side of the line, mostly.
double usual_difference(const std::vector<Level>& levels) {
  std::vector<double> differences;
  for (size_t i = 1; i < levels.size(); ++i)
    differences.push_back(std::abs(levels[i].mean - levels[i - 1].mean));
  return usual_of(std::move(differences));
}

/// What is on each side of the line.
struct TwoSides {
  std::vector<Level> above, below;

  TwoSides(const std::vector<Level>& levels, double line) {
    for (const auto& level : levels) (level.mean > line ? above : below).push_back(level);
  }
  double swing() const { return mean_of(above) - mean_of(below); }
};

/// Whether on one side of the line a level is mostly what it was before.
bool come_back(const TwoSides& sides, size_t times) {
  return std::min(usual_difference(sides.above), usual_difference(sides.below)) <
         std::min(kSame, kSameEach * static_cast<double>(times)) * sides.swing();
}

/// From the first beginning of a spell to the last one.
std::vector<Level> whole_turns(const std::vector<Level>& levels, const std::vector<size_t>& found,
                               double line) {
  const size_t from = levels[found[0]].mean > line ? 0 : 1;
  const size_t turns = (found.size() - 1 - from) / 2;
  return {levels.begin() + static_cast<ptrdiff_t>(found[from]),
          levels.begin() + static_cast<ptrdiff_t>(found[from + 2 * turns])};
}

/// Of means over many turns, times their length.
double variance_of(const std::vector<Level>& turns, double line, double count) {
  const double mean = mean_of(turns);
  const auto length = static_cast<double>(turns.back().end - turns.front().begin);
  // What each turn has more than its share.
  double squares = 0, more = 0;
  for (size_t i = 0; i < turns.size(); ++i) {
    more += turns[i].length() * (turns[i].mean - mean);
    const bool ends = i + 1 == turns.size() || (turns[i].mean <= line && turns[i + 1].mean > line);
    if (!ends) continue;
    squares += more * more;
    more = 0;
  }
  // Where each turn has its share exactly, what begins or ends within one has not.
  const TwoSides sides(turns, line);
  double above = 0;
  for (const auto& level : sides.above) above += level.length() / length;
  const double within = sides.swing() * above * (1 - above);
  return std::max(squares / length, within * within * length / count / 12);
}

double usual_length(const std::vector<Level>& levels) {
  std::vector<double> lengths;
  for (const auto& level : levels) lengths.push_back(level.length());
  return usual_of(std::move(lengths));
}

}  // namespace

std::optional<Spells> spells_of(const std::vector<Level>& levels) {
  if (levels.size() <= 2 * kFewest) return {};
  const double line = most_crossed(levels);
  const auto found = crossings(levels, line);
  const TwoSides sides(levels, line);
  if (found.size() < 2 * kFewest || 3 * found.size() < levels.size() ||
      !come_back(sides, found.size()))
    return {};
  const auto turns = whole_turns(levels, found, line);
  const auto count = static_cast<double>(crossings(turns, line).size() + 1) / 2;
  const auto length = static_cast<double>(turns.back().end - turns.front().begin);
  const double above = usual_length(sides.above), below = usual_length(sides.below);
  const double shortest = kLong * std::min(above, below);
  const auto is_long = [&](const Level& level) {
    return (level.mean > line) == (above < below) && level.length() > shortest;
  };
  const auto& first = levels.front();
  const auto& last = levels.back();
  return Spells{.turn = length / count,
                .variance = variance_of(turns, line, count),
                .line = line,
                .above = above < below,
                .begin = is_long(first) ? first.end : first.begin,
                .end = is_long(last) ? last.begin : last.end};
}

bool Spells::holds(size_t place, double value) const {
  return place >= begin && place < end && (value > line) == above;
}

}  // namespace assay::analysis
