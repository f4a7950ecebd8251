// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numbers>
#include <tuple>

#include <assay/placement/document.h>
#include <assay/placement/rank.h>

namespace assay::placement {
namespace {

/// Half of an interval that holds four of five, in standard deviations.
constexpr double kDeviations = 1.2816;

/// Of the logarithm of the time with its transfer, which itself is taken as known.
double deviation(const Candidate& candidate) {
  const double transfer = candidate.transfer_seconds.value_or(0);
  return std::log((candidate.high + transfer) / (candidate.low + transfer)) / (2 * kDeviations);
}

double share_below(double apart, double spread) {
  if (spread == 0) return apart > 0 ? 1 : 0.5;
  return 0.5 * std::erfc(-apart / spread / std::numbers::sqrt2);
}

/// The chance that `a` is faster than `b`.
double chance(const Candidate& a, const Candidate& b) {
  const double apart = std::log(b.total_seconds() / a.total_seconds());
  return share_below(apart, std::hypot(deviation(a), deviation(b)));
}

/// The chance that it stays within the latency.
double chance_in_time(const Candidate& candidate, double latency) {
  return share_below(std::log(latency / candidate.total_seconds()), deviation(candidate));
}

std::optional<double> room_of(const Node& node) {
  return node.memory_available ? node.memory_available : node.memory_bytes;
}

bool is_possible(const Candidate& candidate) {
  const auto room = room_of(candidate.node);
  if (candidate.memory_needed && !std::isfinite(*candidate.memory_needed)) return false;
  return !room || !candidate.memory_needed || *candidate.memory_needed <= *room;
}

/// The share of its cores that stays unused with the model on it.
double free_share(const Candidate& candidate, const Goals& goals) {
  const double used = goals.requests_per_second.value_or(0) * candidate.idle_seconds;
  return 1 - candidate.node.load - std::min(used, 1.0);
}

std::vector<std::string> missed_goals(const Candidate& candidate, const Goals& goals) {
  std::vector<std::string> missed;
  if (goals.latency_seconds && candidate.total_seconds() > *goals.latency_seconds)
    missed.push_back(fmt::format("{} is over the latency of {}",
                                 time_text(candidate.total_seconds()),
                                 time_text(*goals.latency_seconds)));
  if (goals.energy_joules && !candidate.joules)
    missed.emplace_back("what energy it takes is not known");
  else if (goals.energy_joules && *candidate.joules > *goals.energy_joules)
    missed.push_back(
        fmt::format("{:.3g} J are over {:.3g} J", *candidate.joules, *goals.energy_joules));
  if (goals.keep_free && free_share(candidate, goals) < *goals.keep_free)
    missed.push_back(fmt::format("only {:.0f} % of it would stay free",
                                 100 * std::max(free_share(candidate, goals), 0.0)));
  return missed;
}

/// 0: reaches all; the more the worse.
int rank_class(const Ranked& one) {
  if (!one.possible) return 2;
  return one.missed.empty() ? 0 : 1;
}

/// A device whose network nobody has measured is not the nearer for that.
void drop_half_known_transfers(std::vector<Candidate>& list) {
  const bool all_known = std::all_of(list.begin(), list.end(), [](const Candidate& candidate) {
    return candidate.transfer_seconds.has_value();
  });
  if (all_known) return;
  for (auto& candidate : list) candidate.transfer_seconds.reset();
}

/// How sure it is that the first is the best: faster than each other one that does as well, or in
/// time where no other is. Returns the one that is most likely faster.
size_t judge(Ranking& ranking, const Goals& goals) {
  const auto& devices = ranking.devices;
  if (devices.empty() || !devices[0].possible) return 0;
  const Candidate& first = devices[0].candidate;
  double least = 1;
  size_t rival = 0;
  for (size_t i = 1; i < devices.size() && rank_class(devices[i]) == rank_class(devices[0]); ++i) {
    const double faster = chance(first, devices[i].candidate);
    if (rival != 0 && faster >= least) continue;
    least = faster;
    rival = i;
  }
  const bool late = devices.size() > 1 && !devices[1].missed.empty() && goals.latency_seconds;
  if (rival == 0 && late) least = chance_in_time(first, *goals.latency_seconds);
  ranking.confidence = least;
  ranking.clear = least >= kClear;
  return rival;
}

void answer_in_words(Ranking& ranking, size_t rival) {
  if (ranking.devices.empty()) {
    ranking.answer = "no device is known that could run it";
    return;
  }
  const Ranked& first = ranking.devices.front();
  const std::string& name = first.candidate.node.name;
  if (!first.possible) {
    ranking.answer = "no device has room for it";
  } else if (!first.missed.empty()) {
    ranking.answer = fmt::format("no device reaches all goals; nearest is {}: {}", name,
                                 fmt::join(first.missed, ", "));
  } else if (!ranking.clear && !ranking.devices[1].missed.empty()) {
    ranking.answer =
        fmt::format("{}, {}, but cannot tell whether it stays in time ({:.0f} %)", name,
                    time_text(first.candidate.seconds), 100 * *ranking.confidence);
  } else if (!ranking.clear) {
    ranking.answer =
        fmt::format("cannot tell whether {} or {} is faster ({:.0f} % for {})", name,
                    ranking.devices[rival].candidate.node.name, 100 * *ranking.confidence, name);
  } else {
    ranking.answer = fmt::format("{}, {} ({} to {})", name, time_text(first.candidate.seconds),
                                 time_text(first.candidate.low), time_text(first.candidate.high));
  }
}

/// Puts the best first. Their places are sorted, and each is moved once.
void put_in_order(std::vector<Ranked>& devices) {
  std::vector<std::tuple<int, double, size_t>> places;
  places.reserve(devices.size());
  for (size_t i = 0; i < devices.size(); ++i)
    places.emplace_back(rank_class(devices[i]), devices[i].candidate.total_seconds(), i);
  std::sort(places.begin(), places.end());
  std::vector<Ranked> sorted;
  sorted.reserve(devices.size());
  for (const auto& place : places) sorted.push_back(std::move(devices[std::get<2>(place)]));
  devices = std::move(sorted);
}

}  // namespace

std::string reason_for(const Ranked& one, const Ranking& ranking) {
  const Candidate& candidate = one.candidate;
  if (!one.possible)
    return fmt::format("no room: it needs {:.0f} MB of memory and {:.0f} MB are there",
                       *candidate.memory_needed / 1e6, *room_of(candidate.node) / 1e6);
  std::string text = time_text(candidate.seconds);
  if (candidate.transfer_seconds)
    text += fmt::format(" and {} for the transfer", time_text(*candidate.transfer_seconds));
  if (candidate.node.load >= 0.05)
    text += fmt::format("; it is {:.0f} % busy, idle it would take {}", 100 * candidate.node.load,
                        time_text(candidate.idle_seconds));
  const Candidate& best = ranking.devices.front().candidate;
  const double times = candidate.total_seconds() / best.total_seconds();
  if (times > 1.005) text += fmt::format("; {:.3g} times as long as {}", times, best.node.name);
  if (!one.missed.empty()) text += fmt::format("; misses a goal: {}", fmt::join(one.missed, ", "));
  return text;
}

Ranking rank(Candidates candidates, const Goals& goals) {
  Ranking ranking{{}, std::move(candidates.left_out), false, std::nullopt, ""};
  drop_half_known_transfers(candidates.list);
  ranking.devices.reserve(candidates.list.size());
  for (auto& candidate : candidates.list) {
    const bool possible = is_possible(candidate);
    auto missed = missed_goals(candidate, goals);
    ranking.devices.push_back({std::move(candidate), possible, std::move(missed)});
  }
  put_in_order(ranking.devices);
  const size_t rival = judge(ranking, goals);
  answer_in_words(ranking, rival);
  return ranking;
}

}  // namespace assay::placement
