// SPDX-License-Identifier: Apache-2.0
#include "svg_plot.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include <assay/predict/train.h>

namespace assay::predict {
namespace {

constexpr size_t kMostPoints = 3000;
constexpr double kMostOff = 50;  ///< percent; what is farther off is drawn at the edge
constexpr size_t kMostBars = 12;

constexpr const char* kStyle = R"css(
:root{color-scheme:light dark;--page:#fff;--ink:#1b1f24;--soft:#5b6570;--line:#e3e7eb;--card:#f6f8fa;
--c0:#0b6bcb;--c1:#c2500a;--c2:#1a7f4b;--c3:#8250df;--c4:#bf2f66;--c5:#7a6100;--c6:#0e7c86;--c7:#6b7280}
@media(prefers-color-scheme:dark){:root{--page:#14181d;--ink:#e4e8ec;--soft:#9aa5b1;--line:#2b323a;--card:#1b2128;
--c0:#5aa9f7;--c1:#f0883e;--c2:#4ac78a;--c3:#b392f0;--c4:#f778ba;--c5:#d4b106;--c6:#39c5cf;--c7:#9aa5b1}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1240px;padding:24px;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
h1{font-size:22px;margin:0 0 4px}h2{font-size:16px;margin:0 0 8px}p{margin:0 0 16px}.soft{color:var(--soft)}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,480px),1fr));gap:16px}
section{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:16px;min-width:0}
svg{display:block;width:100%;height:auto}svg text{fill:var(--soft);font-size:12px}svg .axis{fill:var(--ink)}
.grid{stroke:var(--line)}.guide{stroke:var(--ink);stroke-width:1.2}.limit{stroke:var(--soft);stroke-dasharray:4 4}
circle{fill-opacity:.55}.bar{fill:var(--c0)}
.c0{fill:var(--c0)}.c1{fill:var(--c1)}.c2{fill:var(--c2)}.c3{fill:var(--c3)}.c4{fill:var(--c4)}.c5{fill:var(--c5)}.c6{fill:var(--c6)}.c7{fill:var(--c7)}
table{border-collapse:collapse;width:100%}td,th{text-align:right;padding:3px 8px;border-bottom:1px solid var(--line);font-variant-numeric:tabular-nums}
td:first-child,th:first-child{text-align:left}th{font-weight:600}.wide{overflow-x:auto}
.key{display:flex;flex-wrap:wrap;gap:4px 16px;margin:0 0 8px;color:var(--soft)}.key svg{display:inline-block;width:10px;height:10px;margin-right:5px}
)css";

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}
std::string words_of(const Task& task) {
  std::string words = task.device;
  for (const auto* more : {&task.engine, &task.precision})
    if (!more->empty()) words += " " + *more;
  return words;
}

/// One of the told runs and what is drawn of it.
struct Shown {
  double told = 0;    ///< logarithm
  double actual = 0;  ///< logarithm
  size_t group = 0;
  std::string title;
};
std::vector<Shown> shown_of(const TrainReport& report, const Trial& trial) {
  const size_t step = std::max<size_t>(1, (trial.told.size() + kMostPoints - 1) / kMostPoints);
  std::vector<Shown> all;
  for (size_t i = 0; i < trial.told.size(); i += step) {
    const ToldRun& told = trial.told[i];
    const Run& run = report.runs.runs[told.run];
    all.push_back(
        {std::log(told.seconds), std::log(run.seconds), run.task,
         fmt::format("{} on {}, load {:.0f} %: told {}, measured {}",
                     report.runs.models[run.model].name, words_of(report.runs.tasks[run.task]),
                     100 * run.load, short_duration(told.seconds), short_duration(run.seconds))});
  }
  return all;
}

Axis times_axis(const std::vector<Shown>& shown, const char* title) {
  Axis axis{title, HUGE_VAL, -HUGE_VAL, true};
  for (const auto& one : shown) {
    axis.low = std::min({axis.low, one.told, one.actual});
    axis.high = std::max({axis.high, one.told, one.actual});
  }
  axis.low -= 0.2;
  axis.high += 0.2;
  return axis;
}

std::string told_over_actual(const std::vector<Shown>& shown) {
  std::vector<PlotPoint> points;
  points.reserve(shown.size());
  for (const auto& one : shown) points.push_back({one.actual, one.told, one.group, one.title});
  return scatter(times_axis(shown, "measured"), times_axis(shown, "told"), points,
                 {{1, 0, "guide"}, {1, std::log(1.1), "limit"}, {1, std::log(0.9), "limit"}});
}
std::string residuals(const std::vector<Shown>& shown) {
  std::vector<PlotPoint> points;
  points.reserve(shown.size());
  for (const auto& one : shown)
    points.push_back(
        {one.actual, 100 * (std::exp(one.told - one.actual) - 1), one.group, one.title});
  const auto beyond = std::count_if(points.begin(), points.end(), [](const PlotPoint& point) {
    return std::abs(point.y) > kMostOff;
  });
  const std::string words =
      beyond == 0 ? ""
                  : fmt::format(
                        "<p>{} of {} are further off than the picture reaches, and drawn on "
                        "its edge.</p>\n",
                        beyond, points.size());
  return words + scatter(times_axis(shown, "measured"),
                         {"told too long by", -kMostOff, kMostOff, false}, points,
                         {{0, 0, "guide"}, {0, 10, "limit"}, {0, -10, "limit"}});
}

std::string key_of(const TrainReport& report) {
  std::string out = "<div class=\"key\">";
  for (size_t task = 0; task < report.runs.tasks.size(); ++task)
    out += fmt::format(
        "<span><svg viewBox=\"0 0 10 10\"><rect class=\"c{}\" width=\"10\" height=\"10\" "
        "rx=\"2\"/></svg>{}</span>",
        task % 8, escaped(words_of(report.runs.tasks[task])));
  return out + "</div>\n";
}

std::string section(std::string_view title, std::string_view content) {
  return fmt::format("<section><h2>{}</h2>\n{}</section>\n", title, content);
}

std::string row(std::string_view what, const Accuracy& found, std::string_view coverage) {
  return fmt::format(
      "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</"
      "td><td>{:.3f}</"
      "td><td>{:.3f}</td><td>{}</td></tr>\n",
      what, found.count, percent(found.within_tenth), percent(found.median_relative_error),
      percent(found.mean_relative_error), short_duration(found.mean_error),
      short_duration(found.root_mean_square_error), found.r_squared, found.spearman, coverage);
}
std::string figures_of(const TrainReport& report) {
  std::string out =
      "<div class=\"wide\"><table><tr><th>what was left out</th><th>runs</th><th>within 10 "
      "%</th><th>median "
      "error</th><th>MAPE</th><th>MAE</th><th>RMSE</th><th>R²</th><th>Spearman</th><th>80 % "
      "intervals hold</th></tr>\n";
  if (report.has_workload)
    out += row("models, told by their workload", report.by_workload.accuracy,
               percent(report.by_workload.coverage));
  out += row("models, told by the old counts", report.by_counts.accuracy,
             percent(report.by_counts.coverage));
  for (const auto& one : report.unseen_devices)
    out += row("devices, told " + escaped(one.how), one.accuracy, percent(one.coverage));
  for (const auto& one : report.tasks)
    out += row("models on " + escaped(words_of(one.task)), one.accuracy, "");
  return out + "</table></div>\n";
}

/// "log_idle_seconds" is called "idle seconds".
std::vector<std::pair<std::string, double>> in_words(
    std::vector<std::pair<std::string, double>> shares) {
  for (auto& [name, share] : shares) {
    if (name.starts_with("log_")) name.erase(0, 4);
    std::replace(name.begin(), name.end(), '_', ' ');
  }
  return shares;
}

std::string answer_of(const Trial& trial) {
  std::string out = fmt::format(
      "<p>A model that was not learned from is told within 10 % in <b>{}</b> of runs, and half of "
      "them within <b>{}</b>.",
      percent(trial.accuracy.within_tenth), percent(trial.accuracy.median_relative_error));
  if (trial.fastest.count > 0)
    out += fmt::format(
        " The fastest device is picked in <b>{}</b> of choices; picking costs {} of time on "
        "average.",
        percent(trial.fastest.right), percent(trial.fastest.mean_regret));
  return out + "</p>\n";
}

}  // namespace

std::string train_page(const TrainReport& report) {
  const Trial& trial = report.has_workload ? report.by_workload : report.by_counts;
  const auto shown = shown_of(report, trial);
  std::string page = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width\"><title>How well times are told</title>\n<style>{}</style>\n",
      kStyle);
  page += "<h1>How well times are told</h1>\n" + answer_of(trial);
  page += fmt::format(
      "<p class=\"soft\">{} runs of {} models on {} device{}, in {} folds with no {} on both "
      "sides. "
      "Learned by {}.</p>\n",
      report.runs.runs.size(), report.runs.models.size(), report.runs.devices.size(),
      report.runs.devices.size() == 1 ? "" : "s", report.folds,
      report.by_family ? "family" : "model", trial.method);
  page += key_of(report) + "<div class=\"cards\">\n";
  page += section("Told over measured", told_over_actual(shown));
  page += section("What was off", residuals(shown));
  page += section("What counts of a model", bars(report.model_importance, kMostBars));
  page += section("What counts of a load", bars(in_words(report.load_importance), kMostBars));
  page += "</div>\n<br>" + section("All figures", figures_of(report));
  return page + "</html>\n";
}

}  // namespace assay::predict
