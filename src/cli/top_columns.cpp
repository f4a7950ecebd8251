// SPDX-License-Identifier: Apache-2.0
#include "top_columns.h"

#include "terminal.h"
#include "top_text.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <set>

#include <assay/analysis/run_analysis.h>
#include <assay/base/text.h>

namespace assay::cli {
namespace {

constexpr size_t kShortestName = 16;
constexpr size_t kReportedColumns = 3;
constexpr double kNearLimit = 0.9;
constexpr const char* kPerSecond = "_bytes_per_second";

std::string cores_text(double cores) {
  return fmt::format("{:.{}f}", cores, cores < 9.995 ? 2 : 1);
}

std::string bytes_text(double bytes) {
  return format_bytes(bytes < 1000 ? std::round(bytes) : bytes);
}

Ink near_limit(double value, std::optional<double> limit) {
  return limit && *limit > 0 && value >= kNearLimit * *limit ? Ink::bad : Ink::plain;
}

Span cores_cell(const TopApp& app) {
  if (!app.running) return {"ended", Ink::dim};
  const auto cores = app.now("cores");
  if (!cores) return {"-"};
  return {cores_text(*cores), near_limit(*cores, app.core_limit)};
}

Span memory_cell(const TopApp& app) {
  const auto bytes = app.now("memory_bytes");
  if (!bytes) return {"-"};
  return {bytes_text(*bytes), near_limit(*bytes, app.memory_limit)};
}

Span limits_cell(const TopApp& app) {
  if (!app.core_limit && !app.memory_limit) return {"-"};
  return {fmt::format("{} {:>7}", app.core_limit ? format_number(*app.core_limit) : "-",
                      app.memory_limit ? bytes_text(*app.memory_limit) : "-")};
}

std::optional<double> network(const TopApp& app) {
  return app.now("network_receive_bytes_per_second", "network_transmit_bytes_per_second");
}

std::optional<double> disk(const TopApp& app) {
  return app.now("disk_read_bytes_per_second", "disk_write_bytes_per_second");
}

std::optional<double> watts(const TopApp& app) {
  return app.now("power_watts");
}

size_t goals_met(const TopApp& app) {
  return static_cast<size_t>(std::count_if(app.goals.begin(), app.goals.end(),
                                           [](const TopGoal& goal) { return goal.met == true; }));
}

bool misses_goal(const TopApp& app) {
  return std::any_of(app.goals.begin(), app.goals.end(),
                     [](const TopGoal& goal) { return goal.met == false; });
}

Span goals_cell(const TopApp& app, bool unicode) {
  if (app.goals.empty()) return {"-"};
  const std::string share = fmt::format("{}/{} ", goals_met(app), app.goals.size());
  if (misses_goal(app)) return {share + (unicode ? "✗" : "missed"), Ink::bad};
  if (goals_met(app) < app.goals.size()) return {share + "?"};
  return {share + (unicode ? "✓" : "met"), Ink::good};
}

std::optional<double> reported_now(const TopApp& app, const std::string& name) {
  const auto found = app.reported.find(name);
  return app.running && found != app.reported.end() ? found->second.now : std::nullopt;
}

std::string sparkline(const std::vector<double>& values, std::optional<double> limit,
                      bool unicode) {
  constexpr std::array<const char*, 8> kBars = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr std::array<const char*, 8> kAscii = {"_", ".", "-", "=", "+", "*", "%", "#"};
  constexpr double kSmallestTop = 1;
  double top = limit.value_or(kSmallestTop);
  if (!limit)
    for (const double value : values) top = std::max(top, value);
  std::string line;
  for (const double value : values) {
    const double share = top > 0 ? std::clamp(value / top, 0.0, 1.0) : 0;
    line += (unicode ? kBars : kAscii)[static_cast<size_t>(std::lround(share * 7))];
  }
  return line;
}

/// fps first, since that is what most people look for, then by name.
std::vector<std::string> reported_names(const TopDocument& document) {
  std::set<std::string> names;
  for (const auto& app : document.apps)
    for (const auto& [name, value] : app.reported) names.insert(name);
  std::vector<std::string> sorted;
  if (names.erase("fps") > 0) sorted.emplace_back("fps");
  for (const auto& name : names)
    if (sorted.size() < kReportedColumns) sorted.push_back(name);
  return sorted;
}

TopColumn reported_column(const std::string& name, size_t place) {
  TopColumn column;
  column.key = name;
  column.title = name;
  column.width = std::clamp<size_t>(text_columns(name), 7, 12);
  column.rank = place == 0 ? 3 : 9;
  column.order = [name](const TopApp& app) { return reported_now(app, name); };
  column.cell = [name](const TopApp& app) -> Span {
    const auto now = reported_now(app, name);
    if (!now) return {"-"};
    return {shown_value(name, app.reported.at(name).unit, *now)};
  };
  return column;
}

TopColumn rate_column(const char* key, const char* title,
                      std::optional<double> (*rate)(const TopApp&)) {
  return {key,
          title,
          7,
          6,
          [rate](const TopApp& app) -> Span {
            const auto value = rate(app);
            if (!value) return {"-"};
            return {bytes_text(*value), *value > 0 ? Ink::plain : Ink::dim};
          },
          rate};
}

TopColumn spark_column(const RecentCores& recent, bool unicode) {
  return {"", "", 8, 5, [&recent, unicode](const TopApp& app) -> Span {
            const auto found = recent.find(app.id);
            if (found == recent.end() || !app.running) return {""};
            return {sparkline(found->second, app.core_limit, unicode), Ink::accent};
          }};
}

void add_told_columns(const TopDocument& document, bool unicode, std::vector<TopColumn>& columns) {
  const auto some = [&](auto&& has) {
    return std::any_of(document.apps.begin(), document.apps.end(), has);
  };
  if (some([](const TopApp& app) { return watts(app).has_value(); })) {
    columns.push_back({"power", "WATTS", 6, 3,
                       [](const TopApp& app) -> Span {
                         const auto value = watts(app);
                         return {value ? format_number(*value) : "-"};
                       },
                       watts});
  }
  const auto names = reported_names(document);
  for (size_t i = 0; i < names.size(); ++i) columns.push_back(reported_column(names[i], i));
  if (some([](const TopApp& app) { return !app.goals.empty(); })) {
    columns.push_back({"goals", "GOALS", unicode ? 7U : 10U, 3,
                       [unicode](const TopApp& app) { return goals_cell(app, unicode); },
                       [](const TopApp& app) -> std::optional<double> {
                         if (app.goals.empty()) return std::nullopt;
                         return static_cast<double>(app.goals.size() - goals_met(app));
                       }});
  }
  if (some([](const TopApp& app) { return !app.advice.empty(); })) {
    columns.push_back({"",
                       "ADVICE",
                       9,
                       4,
                       [](const TopApp& app) -> Span {
                         return {app.advice.empty() ? "" : app.advice.front().kind};
                       },
                       {},
                       true});
  }
}

bool holds(const std::string& text, const std::string& part) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

/// As people count: cam-9 before cam-10.
bool before_by_name(const TopApp& a, const TopApp& b) {
  const int names = ::strverscmp(a.name.c_str(), b.name.c_str());
  return names != 0 ? names < 0 : a.id < b.id;
}

}  // namespace

std::vector<TopColumn> top_columns(const TopDocument& document, const RecentCores& recent,
                                   bool unicode) {
  std::vector<TopColumn> columns;
  const auto name = [](const TopApp& app) -> Span { return {app.name}; };
  const auto kind = [](const TopApp& app) -> Span { return {app.kind}; };
  columns.push_back({"name", "NAME", 0, 0, name, {}, true});
  columns.push_back({"kind", "KIND", 9, 7, kind, {}, true});
  columns.push_back(
      {"cores", "CORES", 6, 1, cores_cell, [](const TopApp& app) { return app.now("cores"); }});
  columns.push_back(spark_column(recent, unicode));
  columns.push_back({"memory", "MEMORY", 7, 2, memory_cell,
                     [](const TopApp& app) { return app.now("memory_bytes"); }});
  columns.push_back({"", "LIMITS", 12, 8, limits_cell});
  columns.push_back(rate_column("network", "NET/s", network));
  columns.push_back(rate_column("disk", "DISK/s", disk));
  add_told_columns(document, unicode, columns);
  columns.push_back({"age", "AGE", 8, 4,
                     [](const TopApp& app) -> Span { return {age_text(app.seconds)}; },
                     [](const TopApp& app) { return app.seconds; }});
  return columns;
}

std::vector<TopColumn> fitting_columns(std::vector<TopColumn> columns, size_t width) {
  const auto taken = [&] {
    size_t sum = 0;
    for (const auto& column : columns) sum += column.width > 0 ? column.width + 1 : 0;
    return sum;
  };
  while (columns.size() > 1 && taken() + kShortestName > width) {
    const auto last =
        std::max_element(columns.rbegin(), columns.rend(),
                         [](const TopColumn& a, const TopColumn& b) { return a.rank < b.rank; });
    columns.erase(std::prev(last.base()));
  }
  columns.front().width = width - std::min(width, taken());
  return columns;
}

bool is_meant(const TopApp& app, const std::string& text) {
  if (holds(app.name, text) || holds(app.kind, text)) return true;
  return std::any_of(app.facts.begin(), app.facts.end(), [&](const auto& fact) {
    // Ids are made of few letters: they would hold nearly every short text.
    return fact.first != "id" && fact.first != "container_id" && holds(fact.second, text);
  });
}

std::vector<const TopApp*> top_rows(const TopDocument& document,
                                    const std::vector<TopColumn>& columns, const TopOrder& order,
                                    const std::string& filter) {
  struct Row {
    const TopApp* app;
    std::optional<double> value;
  };
  const auto column = std::find_if(columns.begin(), columns.end(),
                                   [&](const TopColumn& c) { return c.key == order.key; });
  const bool by_value = column != columns.end() && column->order;
  const bool by_kind = order.key == "kind";
  std::vector<Row> rows;
  for (const auto& app : document.apps)
    if (is_meant(app, filter)) rows.push_back({&app, by_value ? column->order(app) : std::nullopt});
  std::sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    if (a.value.has_value() != b.value.has_value()) return a.value.has_value();
    const bool turned = order.inverted;
    if (a.value && *a.value != *b.value) return (*a.value > *b.value) != turned;
    if (by_kind && a.app->kind != b.app->kind) return (a.app->kind < b.app->kind) != turned;
    if (by_value || !turned) return before_by_name(*a.app, *b.app);
    return before_by_name(*b.app, *a.app);
  });
  std::vector<const TopApp*> apps;
  apps.reserve(rows.size());
  for (const auto& row : rows) apps.push_back(row.app);
  return apps;
}

std::string TopColumn::placed(std::string_view text) const {
  return is_text ? left_cell(text, width) : right_cell(text, width);
}

Line column_titles(const std::vector<TopColumn>& columns) {
  std::string text;
  for (const auto& column : columns)
    text += (text.empty() ? "" : " ") + column.placed(column.title);
  return {{text, Ink::bar}};
}

Line row_of(const std::vector<TopColumn>& columns, const TopApp& app) {
  Line line;
  for (const auto& column : columns) {
    Span cell = column.cell(app);
    cell.text = (line.empty() ? "" : " ") + column.placed(cell.text);
    line.push_back(std::move(cell));
  }
  return app.running ? line : in_ink(line, Ink::dim);
}

std::string shown_value(const std::string& name, const std::string& unit, double value) {
  if (!unit.empty()) return safe_text(analysis::format_value(value, unit));
  if (name.ends_with(kPerSecond)) return bytes_text(value) + "/s";
  if (name.ends_with("_bytes")) return bytes_text(value);
  if (name == "cores") return cores_text(value);
  return format_number(value);
}

std::string age_text(std::optional<double> seconds) {
  constexpr double kDay = 86400;
  constexpr double kLongest = 1e9;
  if (!seconds) return "-";
  const double age = std::clamp(*seconds, 0.0, kLongest);
  if (age < kDay) return clock_text(from_seconds(age));
  const auto hours = static_cast<int64_t>(age / 3600);
  return fmt::format("{} d {} h", hours / 24, hours % 24);
}

}  // namespace assay::cli
