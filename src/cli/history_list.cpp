// SPDX-License-Identifier: Apache-2.0
#include "history_list.h"

#include "terminal.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace assay::cli {
namespace {

/// What the app's name and the goals share of the 80 columns.
constexpr size_t kNameAndGoals = 24;

using Row = std::array<std::string, 6>;

std::string line_of(const Row& row, size_t goals) {
  const size_t name = kNameAndGoals - goals;
  return fmt::format("{:<20} {:<12} {:<{}.{}} {:<11} {:<{}} {:>7}\n", row[0], row[1], row[2], name,
                     name, row[3], row[4], goals, row[5]);
}

std::string goals_text(const ListedSession& listed) {
  return listed.goals > 0 ? fmt::format("{} of {}", listed.goals_met, listed.goals) : "-";
}

/// As `ls` does: the time for what is less than half a year old, else the year.
std::string local_time(Timestamp time, Timestamp now) {
  const std::time_t seconds = unix_ns(time) / 1'000'000'000;
  std::tm local{};
  localtime_r(&seconds, &local);
  const bool recent = now - time < std::chrono::hours(24 * 182);
  std::array<char, 32> text{};
  const size_t size =
      std::strftime(text.data(), text.size(), recent ? "%b %e %H:%M" : "%b %e  %Y", &local);
  return {text.data(), size};
}

/// Without the namespace, which most apps of one history share.
std::string app_text(const App& app) {
  return app.version.empty() ? app.name : app.name + ":" + app.version;
}

std::string labels_text(const std::map<std::string, std::string>& labels) {
  std::string text;
  for (const auto& [name, value] : labels)
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, value);
  return text;
}

Result<void> count_goals(store::Store& store, ListedSession& listed) {
  size_t asked = 0;
  for (const auto& run : listed.record.runs) asked += run.target.goals.size();
  if (asked == 0) return {};
  ASSAY_TRY(const auto view, session::load_view(store, listed.record.id));
  for (const auto& run : view.runs) {
    for (const auto& goal : run.analysis.goals) {
      ++listed.goals;
      if (goal.met) ++listed.goals_met;
    }
  }
  return {};
}

Result<void> read_record(store::Store& store, ListedSession& listed) {
  ASSAY_TRY(listed.record, store.session(listed.summary.id));
  return count_goals(store, listed);
}

}  // namespace

Nanoseconds ListedSession::duration() const {
  Nanoseconds sum{0};
  for (const auto& run : record.runs) sum += std::max(Nanoseconds(0), run.duration());
  return sum;
}

Result<std::vector<ListedSession>> listed_sessions(store::Store& store) {
  ASSAY_TRY(const auto summaries, store.list());
  std::vector<ListedSession> sessions;
  for (const auto& summary : summaries) {
    ListedSession listed;
    listed.summary = summary;
    if (auto read = read_record(store, listed); !read) {
      if (read.error().temporary) return fail(read.error());
      listed.summary.status = "damaged";
      if (listed.record.app.name.empty()) listed.record.app.name = summary.app;
    }
    sessions.push_back(std::move(listed));
  }
  return sessions;
}

std::string history_table(const std::vector<ListedSession>& sessions, Timestamp now) {
  size_t goals = 6;
  for (const auto& s : sessions) goals = std::max(goals, goals_text(s).size());
  goals = std::min(goals, kNameAndGoals / 2);
  std::string text = line_of({"SESSION", "STARTED", "APP", "STATUS", "GOALS", "TIME"}, goals);
  for (const auto& s : sessions) {
    text += line_of({s.summary.id, local_time(s.summary.created, now), app_text(s.record.app),
                     s.summary.status, goals_text(s), clock_text(s.duration())},
                    goals);
    if (!s.record.labels.empty()) text += fmt::format("  {}\n", labels_text(s.record.labels));
  }
  return text;
}

Json history_json(const std::vector<ListedSession>& sessions) {
  Json rows = Json::array();
  for (const auto& s : sessions) {
    rows.push_back({{"session", s.summary.id},
                    {"app", s.summary.app},
                    {"hostname", s.summary.hostname},
                    {"created", format_utc(s.summary.created)},
                    {"runs", s.summary.runs},
                    {"status", s.summary.status},
                    {"duration_seconds", seconds(s.duration())},
                    {"goals", s.goals},
                    {"goals_met", s.goals_met},
                    {"labels", s.record.labels}});
  }
  return rows;
}

}  // namespace assay::cli
