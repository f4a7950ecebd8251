// SPDX-License-Identifier: Apache-2.0
#include "labels.h"
#include "layout.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

#include <assay/base/text.h>
#include <assay/report/report.h>

namespace assay::report {
namespace {

using analysis::Distribution;
using analysis::RunAnalysis;
using Row = std::vector<std::string>;

constexpr size_t kNameWidth = 32;
/// More runs than this are shown as one line each instead of one table each.
constexpr size_t kFullTables = 3;

class Style {
 public:
  Style(bool color, size_t columns) : color_(color), columns_(columns) {}
  size_t columns() const { return columns_; }
  std::string bold(const std::string& text) const { return wrap("1", text); }
  std::string dim(const std::string& text) const { return wrap("2", text); }
  std::string good(const std::string& text) const { return wrap("32", text); }
  std::string bad(const std::string& text) const { return wrap("31", text); }
  std::string mark(bool ok) const { return ok ? good("✓") : bad("✗"); }

 private:
  std::string wrap(const char* code, const std::string& text) const {
    return color_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
  }
  bool color_;
  size_t columns_;
};

Row distribution_row(const std::string& title, const Distribution& d, bool averages = true) {
  Row row = {"  " + fitted(printable(title), kNameWidth)};
  for (const double value : {d.mean, d.p50, d.p95, d.p99}) {
    row.push_back(averages ? analysis::format_value(value, d.unit) : "–");
  }
  row.push_back(analysis::format_value(d.peak, d.unit));
  return row;
}

/// The same without what the least of all readers look for: p50 and p99.
std::vector<Row> narrowed(std::vector<Row> rows) {
  for (auto& row : rows) {
    if (row.size() < 6) continue;
    row.erase(row.begin() + 4);
    row.erase(row.begin() + 2);
  }
  return rows;
}

void add_table(std::string& out, const std::vector<Row>& rows, const Style& style) {
  auto lines = table(rows);
  const bool wide = std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
    return display_width(line) > style.columns();
  });
  if (wide) lines = table(narrowed(rows));
  for (size_t i = 0; i < lines.size(); ++i)
    out += (i == 0 ? style.bold(lines[i]) : lines[i]) + "\n";
  out += "\n";
}

std::vector<Row> main_rows(const RunAnalysis& analysis) {
  std::vector<Row> rows;
  for (const auto& [name, d] : analysis.footprint) {
    if (is_main(name)) rows.push_back(distribution_row(title_of(name), d, has_averages(d)));
  }
  const auto* power = analysis::find(analysis.node, "power_watts");
  if (power != nullptr) rows.push_back(distribution_row("Power of the whole machine", *power));
  return rows;
}

/// What to know of the numbers above, on the screen where they are.
void add_memory_words(std::string& out, const RunAnalysis& analysis, const Style& style) {
  const auto* memory = analysis::find(analysis.footprint, "memory_bytes");
  if (memory == nullptr) return;
  std::string words;
  if (!has_averages(*memory)) words = "the run was too short for its averages";
  if (!is_working_set(*memory)) {
    words += words.empty() ? "" : "; ";
    words +=
        "the resident memory of its processes added up, what they share counted in each; "
        "with a control group it would be the working set";
  }
  if (!words.empty()) out += wrapped("Memory: ", words, style.columns()) + "\n";
}

/// What ran beside the app because it needs it.
void add_needs(std::vector<Row>& rows, const RunAnalysis& analysis) {
  if (!analysis.needs.empty()) rows.push_back({"Beside the app"});
  for (const auto& [need, lines] : analysis.needs) {
    for (const auto* name : {"cpu_cores", "memory_bytes"}) {
      if (const auto* line = analysis::find(lines, name))
        rows.push_back(distribution_row(fmt::format("{}: {}", need, title_of(name)), *line,
                                        has_averages(*line)));
    }
  }
}

void add_footprint(std::string& out, const RunRecord& run, const RunAnalysis& analysis,
                   const Style& style) {
  if (analysis.footprint.empty() && analysis.metrics.empty()) return;
  std::vector<Row> rows = {{"What it needed", "mean", "p50", "p95", "p99", "peak"}};
  for (auto& row : main_rows(analysis)) rows.push_back(std::move(row));
  if (!analysis.metrics.empty()) rows.push_back({"What it reported"});
  for (const auto& [name, d] : analysis.metrics) rows.push_back(distribution_row(name, d));
  add_needs(rows, analysis);
  if (const auto* cores = analysis::find(analysis.others, "cpu_cores")) {
    rows.push_back({"What others used"});
    rows.push_back(distribution_row(title_of("cpu_cores"), *cores));
  }
  add_table(out, rows, style);
  add_memory_words(out, analysis, style);
  if (run.others.empty()) return;
  out += wrapped("Busy beside it: ", printable(busiest_words(run)), style.columns()) + "\n";
}

void add_goals(std::string& out, const RunAnalysis& analysis, const Style& style) {
  if (analysis.goals.empty()) return;
  size_t width = 0;
  for (const auto& g : analysis.goals) {
    width = std::max(width, display_width(fitted(printable(goal_text(g.goal)), 2 * kNameWidth)));
  }
  out += style.bold("Goals") + "\n";
  for (const auto& g : analysis.goals) {
    const std::string goal = fitted(printable(goal_text(g.goal)), 2 * kNameWidth);
    const std::string value = goal_value(g);
    out += fmt::format("  {} {}  {}\n", style.mark(g.met), left(goal, width),
                       g.met ? value : style.bad(value));
  }
  out += "\n";
}

void add_advice(std::string& out, const std::vector<analysis::Advice>& advice, const Style& style) {
  if (advice.empty()) return;
  out += style.bold("Advice") + "\n";
  for (const auto& a : advice) {
    out += wrapped("  • ", printable(a.finding), style.columns());
    if (!a.evidence.empty()) out += wrapped("    ", printable(a.evidence), style.columns());
    if (!a.action.empty()) out += wrapped("    → ", printable(a.action), style.columns());
  }
  out += "\n";
}

/// Gaps are nearly always those of the machine; the page tells each with its reason.
size_t count_gaps(const SessionRecord& session) {
  std::set<std::string> gaps;
  for (const auto& run : session.runs) {
    for (const auto& gap : run.not_measured) gaps.insert(gap.what + "\n" + gap.why);
  }
  return gaps.size();
}

void add_gaps(std::string& out, const SessionRecord& session, const Style& style) {
  std::vector<Loss> losses;
  for (const auto& run : session.runs) {
    for (const auto& loss : run.losses) add_loss(losses, loss);
  }
  for (const auto& loss : losses) {
    out += wrapped(
        "Lost: ", printable(fmt::format("{} by {}: {}", loss.count, loss.source, loss.reason)),
        style.columns());
  }
  const size_t gaps = count_gaps(session);
  if (gaps > 0) {
    out += wrapped("Not measured here: ",
                   fmt::format("{} thing{} (the report and assay doctor tell why)", gaps,
                               gaps == 1 ? "" : "s"),
                   style.columns());
  }
  if (gaps > 0 || !losses.empty()) out += "\n";
}

void add_not_started(std::string& out, const SessionRecord& session, const Style& style) {
  const int left = session.not_started();
  if (left == 0) return;
  out += wrapped("Not started: ",
                 fmt::format("{} of {} runs; goals and numbers are those of the others", left,
                             session.planned_runs),
                 style.columns()) +
         "\n";
}

void add_places(std::string& out, const SessionRecord& session, const Style& style) {
  out += fmt::format("{} {}\n", style.dim("Session"), printable(session.id));
  if (session.folder.empty()) return;
  out += fmt::format("{}  {}\n", style.dim("Folder"), printable(session.folder));
  out += fmt::format("{}  {}/report.html\n", style.dim("Report"), printable(session.folder));
}

bool all_met(const RunAnalysis& analysis) {
  return std::all_of(analysis.goals.begin(), analysis.goals.end(),
                     [](const analysis::GoalResult& g) { return g.met; });
}

/// "1.83 (peak 2.1 cores)" or nothing.
std::string mean_and_peak(const RunAnalysis& analysis, const std::string& name) {
  const auto* d = analysis::find(analysis.footprint, name);
  if (d == nullptr) return "–";
  return fmt::format("{} / {}", has_averages(*d) ? analysis::format_value(d->mean, d->unit) : "–",
                     analysis::format_value(d->peak, d->unit));
}

void add_answer(std::string& out, const RunRecord& run, const RunAnalysis& analysis,
                const std::string& label, const Style& style) {
  const std::string mark = style.mark(ran_well(run) && all_met(analysis));
  std::string sentence = printable(analysis.answer);
  if (sentence.empty()) sentence = "nothing was measured";
  const std::string head = label.empty() ? "" : label + ": ";
  // The mark may carry colour codes, so it is put in after the lines are laid out.
  out += mark + wrapped("  ", head + sentence, style.columns()).substr(1);
}

/// Numbers of a disturbed run are not shown as if they were those of a quiet machine.
void add_disturbances(std::string& out, const SessionView& view,
                      const std::vector<std::string>& labels, const Style& style) {
  for (size_t i = 0; i < labels.size(); ++i) {
    const std::string& sentence = analysis_of(view, i).disturbance;
    if (sentence.empty()) continue;
    const std::string label = labels.size() > 1 ? labels[i] + " was " : "";
    const std::string words = printable(fmt::format("{}disturbed: {}", label, sentence));
    out += style.bad("!") + wrapped("  ", words, style.columns()).substr(1);
  }
}

/// Unlike states are not compared silently.
void add_unlike_states(std::string& out, const SessionView& view,
                       const std::vector<std::string>& labels, const Style& style) {
  for (size_t i = 1; i < labels.size(); ++i) {
    const auto& differences = unlike_first(view, i);
    if (differences.empty()) continue;
    const std::string why = fmt::format("{} is not comparable with {}: {}", labels[i], labels[0],
                                        fmt::join(differences, "; "));
    out += wrapped("  ", printable(why), style.columns());
  }
}

/// What many runs have in common is told once: the first of each finding.
std::vector<analysis::Advice> distinct_advice(const SessionView& view) {
  std::vector<analysis::Advice> distinct;
  std::set<std::string> seen;
  for (const auto& run : view.runs) {
    for (const auto& a : run.analysis.advice) {
      if (seen.insert(a.finding).second) distinct.push_back(a);
    }
  }
  return distinct;
}

/// For many runs: one line each, and side by side what matters most.
void add_overview(std::string& out, const SessionView& view, const std::vector<std::string>& labels,
                  const Style& style) {
  std::vector<Row> rows = {{"What each run needed", "CPU cores mean / peak", "Memory mean / peak"}};
  for (size_t i = 0; i < labels.size(); ++i) {
    const RunAnalysis& analysis = analysis_of(view, i);
    rows.push_back({"  " + fitted(labels[i], kNameWidth), mean_and_peak(analysis, "cpu_cores"),
                    mean_and_peak(analysis, "memory_bytes")});
  }
  add_table(out, rows, style);
}

std::string head_line(const SessionRecord& session, const Style& style) {
  std::string device = session.device.hostname;
  if (!session.device.model.empty()) device += ", " + session.device.model;
  if (session.device.cores > 0) device += fmt::format(", {} cores", session.device.cores);
  const size_t columns = style.columns();
  const std::string app = fitted(printable(session.app.full_name()), columns * 6 / 10);
  return style.bold(app) + " on " + fitted(printable(device), columns - 4 - display_width(app)) +
         "\n\n";
}

}  // namespace

std::string text_summary(const SessionView& view, bool color, size_t columns) {
  const Style style(color, columns);
  const auto& runs = view.session.runs;
  const auto labels = run_labels(view.session);
  const bool several = runs.size() > 1;
  std::string out = head_line(view.session, style);
  for (size_t i = 0; i < runs.size(); ++i) {
    add_answer(out, runs[i], analysis_of(view, i), several ? labels[i] : "", style);
  }
  add_disturbances(out, view, labels, style);
  add_unlike_states(out, view, labels, style);
  out += "\n";
  const bool full = runs.size() <= kFullTables;
  if (!full) add_overview(out, view, labels, style);
  for (size_t i = 0; i < runs.size(); ++i) {
    const RunAnalysis& analysis = analysis_of(view, i);
    if (several && (full || !all_met(analysis))) {
      out += style.bold(fmt::format("── {} ──", labels[i])) + "\n";
    }
    if (full || !all_met(analysis)) add_goals(out, analysis, style);
    if (full) add_footprint(out, runs[i], analysis, style);
    if (full) add_advice(out, analysis.advice, style);
  }
  if (!full) add_advice(out, distinct_advice(view), style);
  add_not_started(out, view.session, style);
  add_gaps(out, view.session, style);
  add_places(out, view.session, style);
  return out;
}

}  // namespace assay::report
