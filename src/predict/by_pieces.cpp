// SPDX-License-Identifier: Apache-2.0
#include "by_pieces.h"

#include "statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>

namespace assay::predict {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr size_t kMostOfKind = 250;       ///< of which is learned, about; time grows with the cube
constexpr size_t kMostLookedAt = 10'000;  ///< those with most of their models' work
constexpr size_t kSearchedOfKind = 80;
constexpr size_t kLeastOfKind = 12;  ///< with fewer all kinds together tell more
constexpr double kShortest = 1e-7;   ///< seconds; what is merged away takes none

constexpr std::array kFeatures = {
    &model::Piece::macs,         &model::Piece::bytes_read,   &model::Piece::bytes_written,
    &model::Piece::weight_bytes, &model::Piece::merged_bytes, &model::Piece::channels_in,
    &model::Piece::channels_out, &model::Piece::positions,    &model::Piece::window,
    &model::Piece::stride,       &model::Piece::groups,       &model::Piece::merged,
    &model::Piece::costly};

/// Bytes that a whole inference goes through: how much of them a piece still finds in a cache
/// depends on that.
double bytes_of(std::span<const model::Piece> pieces) {
  double bytes = 0;
  for (const auto& piece : pieces) bytes += piece.times * (piece.bytes_read + piece.bytes_written);
  return bytes;
}

void put_features(const model::Piece& piece, double all_bytes, Grid& grid, size_t row) {
  for (size_t i = 0; i < kFeatures.size(); ++i) grid.at(row, i) = std::log1p(piece.*kFeatures[i]);
  grid.at(row, kFeatures.size()) = std::log1p(all_bytes);
}
void put_costs(const model::Piece& piece, Grid& grid, size_t row) {
  grid.at(row, 0) = piece.macs;
  grid.at(row, 1) = piece.bytes_read + piece.bytes_written;
  grid.at(row, 2) = piece.merged_bytes;
  grid.at(row, 3) = piece.merged;
}

/// A piece of some model and what it took on each of the tasks.
struct Sample {
  const model::Piece* piece = nullptr;
  std::vector<double> log_times;  ///< of one time that it runs; NaN where it was not told
  double share = 0;               ///< of its model's work
  double all_bytes = 0;           ///< of its model
};

/// Medians over profiles of one model on one task, as shares of the whole.
std::vector<double> shares_of(const std::vector<const Profile*>& profiles) {
  std::vector<double> shares(profiles.front()->seconds.size(), 0.0);
  std::vector<double> wholes;
  wholes.reserve(profiles.size());
  for (const auto* profile : profiles)
    wholes.push_back(std::accumulate(profile->seconds.begin(), profile->seconds.end(), 0.0));
  for (size_t i = 0; i < shares.size(); ++i) {
    std::vector<double> all;
    all.reserve(profiles.size());
    for (size_t j = 0; j < profiles.size(); ++j)
      all.push_back(wholes[j] > 0 ? profiles[j]->seconds[i] / wholes[j] : 0);
    shares[i] = median(std::move(all));
  }
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= sum > 0 ? sum : 1;
  return shares;
}

/// Bytes weigh more than arithmetic, about as much as they take longer.
double work_of(const model::Piece& piece) {
  return piece.times * (piece.macs + 4 * (piece.bytes_read + piece.bytes_written));
}

std::vector<Sample> items_of(const Runs& runs, const std::vector<size_t>& tasks,
                             const std::vector<size_t>& models, const Grid& idle) {
  std::map<std::pair<size_t, size_t>, std::vector<const Profile*>> profiles;  // model and task
  for (const auto& one : runs.profiles) profiles[{one.model, one.task}].push_back(&one.profile);
  std::vector<Sample> items;
  for (const size_t model : models) {
    const auto pieces = pieces_of(runs, model);
    const size_t first = items.size();
    double work = 1;
    for (const auto& piece : pieces) work += work_of(piece);
    const double bytes = bytes_of(pieces);
    for (const auto& piece : pieces)
      items.push_back(
          {&piece, std::vector<double>(tasks.size(), kNone), work_of(piece) / work, bytes});
    for (size_t row = 0; row < tasks.size(); ++row) {
      const auto found = profiles.find({model, tasks[row]});
      const double whole = idle.at(tasks[row], model);
      if (found == profiles.end() || std::isnan(whole)) continue;
      auto& told = found->second;
      std::erase_if(told, [&](const Profile* one) {
        return !std::equal(one->pieces.begin(), one->pieces.end(), pieces.begin(), pieces.end());
      });
      if (told.empty()) continue;
      const auto shares = shares_of(told);
      for (size_t i = 0; i < shares.size(); ++i) {
        Sample& item = items[first + i];
        item.log_times[row] =
            std::log(std::max(shares[i] * std::exp(whole) / item.piece->times, kShortest));
      }
    }
  }
  return items;
}

/// Items picked one after the other, each as unlike those before as any: what is dear in the next
/// model may be cheap in these, and what they have a thousand times is known from a few.
class Picked {
 public:
  explicit Picked(const std::vector<const Sample*>& items)
      : items_(items),
        features_(items.size(), piece_features()),
        distances_(items.size(), std::numeric_limits<double>::infinity()) {
    for (size_t i = 0; i < items.size(); ++i)
      put_features(*items[i]->piece, items[i]->all_bytes, features_, i);
    for (size_t column = 0; column < features_.columns; ++column) make_standard(column);
  }

  /// Until there are so many that were told on the task, or on any when none is given.
  void pick(size_t count, std::optional<size_t> task) {
    const auto is_told = [&](size_t i) {
      return !task || !std::isnan(items_[i]->log_times[*task]);
    };
    auto there = static_cast<size_t>(std::count_if(picked_.begin(), picked_.end(), is_told));
    for (; there < count && picked_.size() < kMostItems; ++there) {
      std::optional<size_t> next;
      for (size_t i = 0; i < items_.size(); ++i)
        if (distances_[i] > 0 && is_told(i) && (!next || distances_[i] > distances_[*next]))
          next = i;
      if (!next) return;
      add(*next);
    }
  }

  std::vector<const Sample*> items() const {
    std::vector<const Sample*> found;
    found.reserve(picked_.size());
    for (const size_t i : picked_) found.push_back(items_[i]);
    return found;
  }

 private:
  void make_standard(size_t column) {
    double sum = 0;
    double squares = 0;
    for (size_t i = 0; i < items_.size(); ++i) {
      sum += features_.at(i, column);
      squares += features_.at(i, column) * features_.at(i, column);
    }
    const auto count = static_cast<double>(items_.size());
    const double spread = std::sqrt(std::max(0.0, squares / count - sum * sum / (count * count)));
    for (size_t i = 0; i < items_.size(); ++i)
      features_.at(i, column) /= spread > kLeastSpread ? spread : kNoSpread;
  }

  void add(size_t item) {
    picked_.push_back(item);
    for (size_t i = 0; i < items_.size(); ++i) {
      double square = 0;
      for (size_t column = 0; column < features_.columns; ++column) {
        const double off = features_.at(i, column) - features_.at(item, column);
        square += off * off;
      }
      distances_[i] = i == item ? 0 : std::min(distances_[i], square + kAlike);
    }
  }

  static constexpr double kLeastSpread = 1e-9;
  static constexpr double kNoSpread = 1e9;  ///< of features that are all the same
  static constexpr double kAlike = 1e-12;   ///< between items that differ in nothing

  const std::vector<const Sample*>& items_;
  Grid features_;
  std::vector<double> distances_;  ///< to the nearest that was picked; of those 0
  std::vector<size_t> picked_;
};

/// About as many for each task.
std::vector<const Sample*> most_different(std::vector<const Sample*> items, size_t tasks) {
  std::stable_sort(items.begin(), items.end(),
                   [](const Sample* a, const Sample* b) { return a->share > b->share; });
  if (items.size() > kMostLookedAt) items.resize(kMostLookedAt);
  Picked picked(items);
  const size_t each = std::max(kLeastOfKind, kMostOfKind / tasks);
  for (size_t task = 0; task < tasks; ++task) picked.pick(each, task);
  picked.pick(kMostOfKind, std::nullopt);
  return picked.items();
}

/// Tasks with enough of the items.
std::vector<size_t> told_tasks(const std::vector<const Sample*>& items, size_t tasks,
                               size_t least) {
  std::vector<size_t> rows;
  for (size_t row = 0; row < tasks; ++row) {
    const auto count = std::count_if(items.begin(), items.end(), [&](const Sample* item) {
      return !std::isnan(item->log_times[row]);
    });
    if (static_cast<size_t>(count) >= least) rows.push_back(row);
  }
  return rows;
}

Result<PieceKind> learn_kind(const std::string& name, const std::vector<const Sample*>& items,
                             std::vector<size_t> tasks) {
  std::vector<const Sample*> known;
  for (const Sample* item : items) {
    if (std::any_of(tasks.begin(), tasks.end(),
                    [&](size_t row) { return !std::isnan(item->log_times[row]); }))
      known.push_back(item);
  }
  Lesson lesson{Grid(known.size(), piece_features()), Grid(known.size(), piece_costs()),
                Grid(tasks.size(), known.size())};
  for (size_t i = 0; i < known.size(); ++i) {
    put_features(*known[i]->piece, known[i]->all_bytes, lesson.features, i);
    put_costs(*known[i]->piece, lesson.costs, i);
    for (size_t row = 0; row < tasks.size(); ++row)
      lesson.log_times.at(row, i) = known[i]->log_times[tasks[row]];
  }
  PieceKind kind{name, std::move(tasks), {}};
  ASSAY_TRY(kind.learned, learn(lesson, kSearchedOfKind));
  return kind;
}

/// Which pieces were not told yet for which tasks.
class Open {
 public:
  Open(size_t tasks, size_t pieces) : tasks_(tasks), open_(tasks * pieces, true) {}

  bool any(size_t piece) const {
    const auto begin = open_.begin() + static_cast<ptrdiff_t>(piece * tasks_);
    return std::find(begin, begin + static_cast<ptrdiff_t>(tasks_), true) !=
           begin + static_cast<ptrdiff_t>(tasks_);
  }
  /// Whether it was.
  bool close(size_t task, size_t piece) {
    const bool was = open_[piece * tasks_ + task];
    open_[piece * tasks_ + task] = false;
    return was;
  }

 private:
  size_t tasks_;
  std::vector<bool> open_;
};

/// Adds what a kind tells of its own pieces to the sums of its tasks.
void add_told(const PieceKind& kind, std::span<const model::Piece> pieces,
              const std::vector<size_t>& own, double all_bytes, Open& open,
              std::vector<double>& sums) {
  Grid features(own.size(), piece_features());
  Grid costs(own.size(), piece_costs());
  for (size_t i = 0; i < own.size(); ++i) {
    put_features(pieces[own[i]], all_bytes, features, i);
    put_costs(pieces[own[i]], costs, i);
  }
  const Grid logs = tell(kind.learned, features, costs);
  for (size_t row = 0; row < kind.tasks.size(); ++row) {
    const size_t task = kind.tasks[row];
    for (size_t i = 0; i < own.size(); ++i)
      if (open.close(task, own[i])) sums[task] += pieces[own[i]].times * std::exp(logs.at(row, i));
  }
}

}  // namespace

size_t piece_features() {
  return kFeatures.size() + 1;
}
size_t piece_costs() {
  return 4;
}

std::span<const model::Piece> pieces_of(const Runs& runs, size_t model) {
  for (const auto& one : runs.profiles)
    if (one.model == model) return one.profile.pieces;
  return {};
}

bool has_pieces(const Runs& runs) {
  std::set<size_t> known;
  std::vector<std::set<size_t>> of_task(runs.tasks.size());
  for (const auto& one : runs.profiles) {
    known.insert(one.model);
    of_task[one.task].insert(one.model);
  }
  std::set<size_t> all;
  for (const auto& run : runs.runs)
    if (runs.models[run.model].workload) all.insert(run.model);
  return !known.empty() && 2 * known.size() >= all.size() &&
         std::all_of(of_task.begin(), of_task.end(),
                     [](const auto& models) { return models.size() >= kLeastItems; });
}

Result<ByPieces> learn_pieces(const Runs& runs, const std::vector<size_t>& tasks,
                              const std::vector<size_t>& models, const Grid& idle) {
  const std::vector<Sample> items = items_of(runs, tasks, models, idle);
  ByPieces found;
  found.tasks = tasks.size();
  std::vector<const Sample*> all;
  for (const auto& item : items)
    if (std::any_of(item.log_times.begin(), item.log_times.end(),
                    [](double time) { return !std::isnan(time); }))
      all.push_back(&item);
  for (const auto kind : model::kPieceKinds) {
    std::vector<const Sample*> own;
    for (const Sample* item : all)
      if (item->piece->kind == kind) own.push_back(item);
    own = most_different(std::move(own), tasks.size());
    auto told = told_tasks(own, tasks.size(), kLeastOfKind);
    if (told.empty()) continue;
    ASSAY_TRY(auto learned, learn_kind(std::string(kind), own, std::move(told)));
    found.kinds.push_back(std::move(learned));
  }
  const auto some = most_different(all, tasks.size());
  auto told = told_tasks(some, tasks.size(), 2);
  if (told.size() != tasks.size()) return bad_input("too few pieces of models were measured");
  ASSAY_TRY(auto rest, learn_kind("", some, std::move(told)));
  found.kinds.push_back(std::move(rest));
  return found;
}

std::vector<double> tell_pieces(const ByPieces& learned, std::span<const model::Piece> pieces,
                                std::span<const model::Piece> whole) {
  const double all_bytes = bytes_of(whole);
  Open open(learned.tasks, pieces.size());
  std::vector<double> sums(learned.tasks, 0.0);
  for (const auto& kind : learned.kinds) {
    std::vector<size_t> own;
    for (size_t i = 0; i < pieces.size(); ++i)
      if (kind.name.empty() ? open.any(i) : pieces[i].kind == kind.name) own.push_back(i);
    if (!own.empty()) add_told(kind, pieces, own, all_bytes, open, sums);
  }
  for (double& sum : sums) sum = std::log(std::max(sum, kShortest));
  return sums;
}

}  // namespace assay::predict
