// SPDX-License-Identifier: Apache-2.0
#include "history_list.h"

#include <array>
#include <ctime>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace assay::cli {
namespace {

constexpr const char* kRow = "{:<20} {:<12} {:<18.18} {:<11} {:<6} {:>7}\n";

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

std::string clock_text(Nanoseconds d) {
  const auto s = std::chrono::round<std::chrono::seconds>(d).count();
  if (s < 3600) return fmt::format("{}:{:02}", s / 60, s % 60);
  return fmt::format("{}:{:02}:{:02}", s / 3600, s % 3600 / 60, s % 60);
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
    ASSAY_TRY(listed.record, store.session(summary.id));
    ASSAY_CHECK(count_goals(store, listed));
    sessions.push_back(std::move(listed));
  }
  return sessions;
}

std::string history_table(const std::vector<ListedSession>& sessions, Timestamp now) {
  std::string text = fmt::format(kRow, "SESSION", "STARTED", "APP", "STATUS", "GOALS", "TIME");
  for (const auto& s : sessions) {
    const std::string goals = s.goals > 0 ? fmt::format("{} of {}", s.goals_met, s.goals) : "-";
    text += fmt::format(kRow, s.summary.id, local_time(s.summary.created, now),
                        app_text(s.record.app), s.summary.status, goals, clock_text(s.duration()));
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
