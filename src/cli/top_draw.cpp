// SPDX-License-Identifier: Apache-2.0
// How the live table looks.
#include "top_text.h"
#include "top_view.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace assay::cli {
namespace {

constexpr size_t kLowestWithBars = 9;  ///< rows of a screen on which there is room for bars
constexpr size_t kWidthOfTwoBars = 76;

struct KeyHint {
  const char* key;
  const char* label;
};

/// Those that fit, and always the last.
Line hints_line(std::initializer_list<KeyHint> hints, size_t width) {
  const auto columns = [](const KeyHint& hint) {
    return std::string_view(hint.key).size() + std::string_view(hint.label).size() + 1;
  };
  const KeyHint& last = *std::prev(hints.end());
  Line line;
  for (const auto& hint : hints) {
    const bool fits = line_columns(line) + columns(hint) + columns(last) <= width;
    if (!fits && &hint != &last) continue;
    line.push_back({hint.key, Ink::plain});
    line.push_back({fmt::format("{} ", hint.label), Ink::bar});
  }
  line.push_back({"", Ink::plain});
  return line;
}

double sum_of(const TopDocument& document, const std::string& value) {
  return std::accumulate(
      document.apps.begin(), document.apps.end(), 0.0,
      [&](double sum, const TopApp& app) { return sum + app.now(value).value_or(0); });
}

/// "cores  ██████░░░░  1.82 of 4" in `width` columns; without a whole there is no bar.
Line bar_line(const char* title, const std::string& name, double used, std::optional<double> whole,
              size_t width, bool unicode) {
  Line line = {{fmt::format("{:<7}", title), Ink::bold}};
  std::string numbers = shown_value(name, "", used);
  if (!whole || *whole <= 0) {
    line.push_back({numbers, Ink::plain});
    return line;
  }
  numbers +=
      " of " + (name == "cores" ? fmt::format("{:g}", *whole) : shown_value(name, "", *whole));
  const size_t around = 7 + 2 + 2 + std::max<size_t>(numbers.size(), 18);
  const size_t length = width > around ? width - around : 0;
  const double share = std::clamp(used / *whole, 0.0, 1.0);
  const auto full = static_cast<size_t>(share * static_cast<double>(length) + 0.5);
  std::string bar;
  for (size_t i = 0; i < full; ++i) bar += unicode ? "█" : "|";
  std::string rest;
  for (size_t i = full; i < length; ++i) rest += unicode ? "░" : " ";
  line.push_back({"[", Ink::bold});
  line.push_back({bar, Ink::accent});
  line.push_back({rest, Ink::dim});
  line.push_back({"] ", Ink::bold});
  line.push_back({left_cell(numbers, std::max<size_t>(numbers.size(), 18)), Ink::plain});
  return line;
}

size_t count_if(const TopDocument& document, bool (*is)(const TopApp&)) {
  return static_cast<size_t>(std::count_if(document.apps.begin(), document.apps.end(), is));
}

/// "12 apps", ", 2 ended", ", 1 misses a goal".
std::vector<std::string> counts_of(const TopDocument& document) {
  const size_t ended = count_if(document, [](const TopApp& app) { return !app.running; });
  const size_t running = document.apps.size() - ended;
  std::vector<std::string> parts = {fmt::format("{} {}", running, running == 1 ? "app" : "apps")};
  const size_t missing = count_if(document, [](const TopApp& app) {
    return app.running && std::any_of(app.goals.begin(), app.goals.end(),
                                      [](const TopGoal& goal) { return goal.met == false; });
  });
  if (missing > 0)
    parts.push_back(fmt::format(", {} {} a goal", missing, missing == 1 ? "misses" : "miss"));
  if (ended > 0) parts.push_back(fmt::format(", {} ended", ended));
  return parts;
}

}  // namespace

Line TopView::title(size_t width) const {
  const char* const down = choice_.unicode ? "▼" : "v";
  const char* const up = choice_.unicode ? "▲" : "^";
  const std::string order =
      fmt::format("by {} {}", choice_.order.key, choice_.order.inverted ? up : down);
  Line line = {{"assay top", Ink::bold}};
  if (!document_.node.empty()) line.push_back({"  " + document_.node, Ink::bold});
  line.push_back({"  ", Ink::plain});
  for (const auto& part : counts_of(document_))
    if (line_columns(line) + part.size() <= width) line.push_back({part, Ink::plain});
  const size_t used = line_columns(line) + text_columns(order);
  if (used + 2 > width) return line;
  line.push_back({std::string(width - used, ' ') + order, Ink::plain});
  return line;
}

Lines TopView::head(ScreenSize size) const {
  Lines lines = {title(size.columns)};
  if (size.rows < kLowestWithBars) return lines;
  const bool beside = size.columns >= kWidthOfTwoBars;
  const size_t width = beside ? size.columns / 2 : size.columns;
  Line cores = bar_line("cores", "cores", sum_of(document_, "cores"), document_.cores, width,
                        choice_.unicode);
  const Line memory = bar_line("memory", "memory_bytes", sum_of(document_, "memory_bytes"),
                               document_.memory_bytes, width, choice_.unicode);
  if (!beside) {
    lines.push_back(cores);
    lines.push_back(memory);
    return lines;
  }
  cores = fitted_line(cores, width);
  cores.insert(cores.end(), memory.begin(), memory.end());
  lines.push_back(cores);
  return lines;
}

Line TopView::status() const {
  Line line;
  const auto add = [&line](const std::string& text, Ink ink) {
    if (!line.empty()) line.push_back({"  ", Ink::plain});
    line.push_back({text, ink});
  };
  if (!trouble_.empty()) add(trouble_, Ink::bad);
  if (paused_) add("paused; space goes on", Ink::bold);
  if (!choice_.filter.empty() && mode_ != Mode::filter)
    add(fmt::format("filter '{}': {} of {}, Esc clears it", safe_text(choice_.filter), rows_.size(),
                    document_.apps.size()),
        Ink::bold);
  return line;
}

Line TopView::footer(size_t width) const {
  const char* const mark = choice_.unicode ? "▏" : "_";
  switch (mode_) {
    case Mode::search:
      return {{"Search: " + safe_text(search_) + mark, Ink::bold},
              {"   F3 next, Enter done, Esc clears", Ink::dim}};
    case Mode::filter:
      return {{"Filter: " + safe_text(choice_.filter) + mark, Ink::bold},
              {"   Enter keeps it, Esc clears", Ink::dim}};
    case Mode::app:
    case Mode::help:
      return hints_line({{"Esc", "Back"}, {"PgDn", "More"}, {"Space", "Pause"}, {"F10", "Quit"}},
                        width);
    case Mode::table:
      break;
  }
  return hints_line({{"F1", "Help"},
                     {"F3", "Search"},
                     {"F4", "Filter"},
                     {"F6", "Sort"},
                     {"Enter", "App"},
                     {"Space", "Pause"},
                     {"I", "Invert"},
                     {"q", "Quit"}},
                    width);
}

Lines TopView::table(ScreenSize size, size_t rows) {
  const auto columns =
      fitting_columns(top_columns(document_, recent_, choice_.unicode), size.columns);
  Lines lines = {column_titles(columns)};
  page_rows_ = std::max<size_t>(1, rows);
  const size_t chosen = chosen_row();
  chosen_before_ = chosen;
  if (chosen < top_) top_ = chosen;
  if (chosen >= top_ + page_rows_) top_ = chosen + 1 - page_rows_;
  top_ = std::min(top_, rows_.size() - std::min(rows_.size(), page_rows_));
  for (size_t row = top_; row < rows_.size() && lines.size() <= rows; ++row) {
    Line line = row_of(columns, *rows_[row]);
    if (!trouble_.empty()) line = in_ink(line, Ink::dim);
    lines.push_back(row == chosen ? in_ink(line, Ink::chosen) : line);
  }
  if (rows_.empty())
    lines.push_back(
        {{document_.apps.empty() ? "no app runs here" : "no app is like that", Ink::dim}});
  return lines;
}

Lines TopView::page(size_t width) const {
  if (mode_ == Mode::help) return help_page();
  Lines lines = app_page(*watched_, width, choice_.unicode);
  if (trouble_.empty()) return lines;
  for (auto& line : lines) line = in_ink(line, Ink::dim);
  return lines;
}

Lines TopView::frame(ScreenSize size) {
  Lines lines = head(size);
  if (Line told = status(); !told.empty()) lines.push_back(std::move(told));
  const size_t used = lines.size() + 1;
  const size_t left = size.rows > used ? size.rows - used : 0;
  Lines body;
  if (mode_ == Mode::app || mode_ == Mode::help) {
    body = page(size.columns);
    page_rows_ = std::max<size_t>(1, left);
    top_ = std::min(top_, body.size() - std::min(body.size(), page_rows_));
    body.erase(body.begin(), body.begin() + static_cast<std::ptrdiff_t>(top_));
  } else {
    body = table(size, left > 0 ? left - 1 : 0);
  }
  body.resize(left);
  lines.insert(lines.end(), body.begin(), body.end());
  lines.push_back(footer(size.columns));
  return lines;
}

std::string once_text(const TopDocument& document, const TopChoice& choice, size_t width) {
  constexpr size_t kLongestName = 100;
  const RecentCores recent;
  auto columns = top_columns(document, recent, choice.unicode);
  const auto rows = top_rows(document, columns, choice.order, choice.filter);
  std::erase_if(columns, [](const TopColumn& column) { return column.title.empty(); });
  if (width > 0) {
    columns = fitting_columns(std::move(columns), width);
  } else {
    size_t longest = 4;
    for (const TopApp* app : rows) longest = std::max(longest, text_columns(app->name));
    columns.front().width = std::min(longest, kLongestName);
  }
  std::string text = plain_text(column_titles(columns)) + "\n";
  for (const TopApp* app : rows) text += plain_text(row_of(columns, *app)) + "\n";
  return text;
}

}  // namespace assay::cli
