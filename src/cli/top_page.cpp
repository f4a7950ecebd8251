// SPDX-License-Identifier: Apache-2.0
// The pages beside the live table: one app, and the keys.
#include "top_text.h"
#include "top_view.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include <assay/base/text.h>

namespace assay::cli {
namespace {

constexpr size_t kTitle = 17;

/// "memory", "disk read": a value's name without its unit.
std::string title_of(std::string name) {
  for (const std::string_view unit : {"_bytes_per_second", "_bytes"})
    if (name.ends_with(unit)) name.resize(name.size() - unit.size());
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

void add_fact(Lines& lines, const std::string& title, const std::string& text, Ink ink) {
  lines.push_back({{left_cell(title, kTitle) + " ", Ink::dim}, {text, ink}});
}

/// The sentence in lines of the page's width.
void add_sentence(Lines& lines, const std::string& title, const std::string& sentence,
                  size_t width) {
  const size_t room = std::max(kTitle + 10, width) - kTitle - 1;
  std::string line;
  std::string shown_title = title;
  std::string_view rest = sentence;
  while (!rest.empty()) {
    const std::string word(next_field(rest, ' '));
    if (!line.empty() && text_columns(line) + 1 + text_columns(word) > room) {
      add_fact(lines, std::exchange(shown_title, ""), line, Ink::plain);
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  if (!line.empty()) add_fact(lines, shown_title, line, Ink::plain);
}

void add_goals(Lines& lines, const TopApp& app, bool unicode) {
  for (const auto& goal : app.goals) {
    const char* const word = !goal.met ? "not known yet" : *goal.met ? "met" : "missed";
    const char* const mark = !unicode || !goal.met ? "" : *goal.met ? "✓ " : "✗ ";
    const Ink ink = !goal.met ? Ink::plain : *goal.met ? Ink::good : Ink::bad;
    add_fact(lines, "goal", fmt::format("{}  {}{}", goal.goal, mark, word), ink);
  }
}

std::string limits_text(const TopApp& app) {
  std::string text;
  if (app.core_limit) text = format_number(*app.core_limit) + " cores";
  if (app.memory_limit)
    text += (text.empty() ? "" : ", ") + shown_value("memory_bytes", "", *app.memory_limit);
  return text.empty() ? "none" : text;
}

/// The values as a table, or below their names where there is no room for one.
class ValueLines {
 public:
  ValueLines(Lines& lines, size_t width) : lines_(lines), wide_(width >= kWidthOfTable) {}

  void add_head() {
    lines_.push_back(
        {{left_cell("", wide_ ? kTitle : 2) + (wide_ ? right_cell("now", kNumber) : "") +
              left_cell("  over", kSpan) + right_cell("mean", kNumber) +
              right_cell("p95", kNumber) + right_cell("max", kNumber),
          Ink::bar}});
  }

  void add(const std::string& name, const TopValue& value, bool running) {
    const auto cell = [&](std::optional<double> number) {
      return right_cell(number ? shown_value(name, value.unit, *number) : "", kNumber);
    };
    Line begin = {{left_cell(title_of(name), kTitle)},
                  {cell(running ? value.now : std::nullopt), Ink::bold}};
    if (!wide_) flush(begin, kIndent);
    for (size_t i = 0; i < kTopSpans.size(); ++i) {
      const TopSummary& span = value.spans[i];
      if (!span.mean && !span.p95 && !span.max) continue;
      begin.push_back({left_cell(fmt::format("  {}", kTopSpans[i].title), kSpan), Ink::dim});
      begin.push_back({cell(span.mean) + cell(span.p95) + cell(span.max)});
      flush(begin, wide_ ? kTitle + kNumber : kIndent);
    }
    if (begin.size() > 1) lines_.push_back(begin);
  }

 private:
  static constexpr size_t kNumber = 10;
  static constexpr size_t kSpan = 7;
  static constexpr size_t kIndent = 2;
  static constexpr size_t kWidthOfTable = kTitle + kSpan + 4 * kNumber;

  /// The line is done; what follows begins below it.
  void flush(Line& line, size_t indent) {
    lines_.push_back(std::exchange(line, {{std::string(indent, ' ')}}));
  }

  Lines& lines_;
  bool wide_;
};

/// "container, running for 0:12".
std::string state_text(const TopApp& app) {
  const std::string kind = app.kind.empty() ? "app" : app.kind;
  if (!app.seconds) return fmt::format("{}, {}", kind, app.running ? "running" : "ended");
  return fmt::format("{}, {} {}", kind, app.running ? "running for" : "ended after",
                     age_text(app.seconds));
}

}  // namespace

Lines app_page(const TopApp& app, size_t width, bool unicode) {
  Lines lines;
  lines.push_back({{app.name, Ink::bold}, {"  " + state_text(app), Ink::plain}});
  if (app.lower_bound)
    lines.push_back({{"its last moment was not seen: it may have used more", Ink::dim}});
  for (const auto& advice : app.advice)
    add_sentence(lines, advice.kind.empty() ? "advice" : advice.kind, advice.sentence, width);
  add_goals(lines, app, unicode);
  add_fact(lines, "limits", limits_text(app), Ink::plain);
  lines.push_back({});
  ValueLines values(lines, width);
  values.add_head();
  for (const auto& [name, value] : app.reported) values.add(name, value, app.running);
  for (const auto& [name, value] : app.values) values.add(name, value, app.running);
  lines.push_back({});
  for (const auto& [title, text] : app.facts) add_fact(lines, title, text, Ink::plain);
  return lines;
}

Lines help_page() {
  constexpr std::array<std::pair<const char*, const char*>, 13> kKeys = {{
      {"arrows PgUp PgDn", "move; Home and End go to the first and the last app"},
      {"Enter", "all about one app: advice, goals, limits, values over time"},
      {"F3 /", "search by name; F3 or n finds the next"},
      {"F4 \\", "show only apps whose name, kind or image holds a text"},
      {"Esc", "clear the filter, or go back"},
      {"F6 > <", "sort by the next, or the previous, column"},
      {"P", "sort by cores"},
      {"M", "sort by memory"},
      {"N", "sort by name"},
      {"I", "invert the order"},
      {"space", "pause, and go on"},
      {"F1 h ?", "this page"},
      {"F10 q", "quit"},
  }};
  Lines lines = {{}};
  for (const auto& [key, what] : kKeys)
    lines.push_back({{right_cell(key, 16), Ink::bold}, {fmt::format("  {}", what), Ink::plain}});
  return lines;
}

}  // namespace assay::cli
