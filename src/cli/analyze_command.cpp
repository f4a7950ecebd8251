// SPDX-License-Identifier: Apache-2.0
#include "commands.h"
#include "duration_option.h"
#include "exit_code.h"
#include "named_file.h"
#include "prometheus_options.h"
#include "series_span.h"
#include "signals.h"
#include "terminal.h"

#include <fmt/format.h>
#include <iostream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include <assay/base/files.h>
#include <assay/base/text.h>
#include <assay/base/time.h>
#include <assay/report/series_report.h>

namespace assay::cli {
namespace {

constexpr size_t kLargestFile = 512U << 20U;
constexpr const char* kUsualPast = "6h";

struct AnalyzeArguments {
  std::string file;
  analysis::SeriesTable table;
  PrometheusOptions prometheus;
  std::string query;
  std::string last;
  std::string step;
  std::string horizon;
  std::string season;
  std::string full;
  std::string page;
  bool json = false;
};

Result<std::string> text_of(const std::string& file) {
  if (file != "-") return read_named_file(file, kLargestFile);
  std::string text(std::istreambuf_iterator<char>(std::cin), {});
  if (text.size() > kLargestFile) return bad_input("standard input is larger than 512 MiB");
  return text;
}

std::string words_of(const std::map<std::string, std::string>& labels) {
  std::string text;
  for (const auto& [name, value] : labels)
    text += fmt::format("{}{}=\"{}\"", text.empty() ? "" : ", ", name, value);
  return fmt::format("{{{}}}", text);
}

/// As long a step as gives about a thousand values, from a second on.
Nanoseconds usual_step(Nanoseconds range) {
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(range / 1000);
  return std::max<Nanoseconds>(whole, std::chrono::seconds(1));
}

Result<analysis::EvenSeries> even(const promapi::RangeSeries& series) {
  std::vector<std::pair<double, double>> samples;
  for (const auto& [time, value] : series.samples)
    samples.emplace_back(seconds(time.time_since_epoch()), value);
  return analysis::evenly(std::move(samples));
}

Result<analysis::EvenSeries> asked_series(const AnalyzeArguments& args) {
  const auto access = prometheus_access(args.prometheus);
  if (access.url.empty()) return bad_input("--query needs --prometheus URL");
  const std::string past = args.last.empty() ? kUsualPast : args.last;
  ASSAY_TRY(const auto last, duration_of("--for", past));
  if (last.count() <= 0) return bad_input("--for needs some time, as in 6h");
  ASSAY_TRY(const auto step, args.step.empty() ? Result<Nanoseconds>(usual_step(last))
                                               : duration_of("--step", args.step));
  const Timestamp now = SystemClock().now();
  promapi::Queries queries(access);
  ASSAY_TRY(const auto answer, queries.range(args.query, {now - last, now, step}));
  for (const auto& warning : answer.warnings)
    fmt::print(stderr, "assay: Prometheus warns: {}\n", warning);
  if (answer.series.empty())
    return bad_input(fmt::format("'{}' has no values in the last {}", args.query, past));
  if (answer.series.size() > 1)
    return bad_input(fmt::format(
        "'{}' gives {} series; choose one by its labels, or add them up with sum(...). The first "
        "two: {} and {}",
        args.query, answer.series.size(), words_of(answer.series[0].labels),
        words_of(answer.series[1].labels)));
  auto series = even(answer.series[0]);
  if (series) {
    series->name = args.query;
    series->dated = true;
  }
  return series;
}

/// What was said of Prometheus beside a file, or of a file beside it, would be left out of account.
Result<void> check_source(const AnalyzeArguments& args) {
  const bool asks = !args.query.empty();
  if (!args.file.empty() && (asks || !args.prometheus.address.empty()))
    return bad_input(
        fmt::format("{} and Prometheus are two series: name the file, or --prometheus "
                    "URL --query EXPRESSION",
                    args.file));
  if (args.file.empty() && !asks)
    return bad_input(args.prometheus.address.empty()
                         ? "say which series: a file, or --prometheus URL --query EXPRESSION"
                         : "--prometheus needs --query EXPRESSION, which gives one series");
  for (const auto& [option, text] : {std::pair{"--for", args.last}, {"--step", args.step}})
    if (!asks && !text.empty())
      return bad_input(fmt::format("{} is for --query; of a file, all is read", option));
  const auto& table = args.table;
  if (asks && !table.column.empty()) return bad_input("--column is for files");
  if (asks && !table.time_column.empty()) return bad_input("--time-column is for files");
  if (asks && !table.missing.empty()) return bad_input("--missing is for files");
  return {};
}

Result<analysis::EvenSeries> read_series(const AnalyzeArguments& args) {
  ASSAY_CHECK(check_source(args));
  if (!args.query.empty()) return asked_series(args);
  ASSAY_TRY(const auto text, text_of(args.file));
  return analysis::parse_series(text, args.file == "-" ? "standard input" : args.file, args.table);
}

Result<analysis::SeriesQuestions> questions_of(const AnalyzeArguments& args,
                                               const analysis::EvenSeries& series) {
  analysis::SeriesQuestions questions;
  if (!args.horizon.empty()) {
    ASSAY_TRY(questions.horizon, samples_of("--horizon", args.horizon, series, 1));
  }
  if (!args.season.empty()) {
    ASSAY_TRY(questions.season, samples_of("--season", args.season, series, 2));
  }
  if (!args.full.empty()) {
    questions.full = parse_double(args.full);
    if (!questions.full || !(*questions.full > 0))
      return bad_input(fmt::format("--full {}: a number above 0", args.full));
  }
  return questions;
}

Result<int> analyze(const AnalyzeArguments& args) {
  report::SeriesView view;
  ASSAY_TRY(view.series, read_series(args));
  view.name = !args.query.empty() ? args.query : args.file == "-" ? "standard input" : args.file;
  ASSAY_TRY(const auto questions, questions_of(args, view.series));
  ASSAY_TRY(view.analysis, analysis::analyze_series(view.series, questions));
  view.now = seconds(SystemClock().now().time_since_epoch());
  if (!args.page.empty()) ASSAY_CHECK(write_file(args.page, report::series_page(view)));
  if (args.json) {
    const auto document = report::series_document(view);
    fmt::print("{}\n", document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    return kDone;
  }
  const Look look = output_look();
  fmt::print("{}", report::series_text(view, look.color, look.columns));
  if (!args.page.empty()) fmt::print("\nwrote {}\n", args.page);
  return kDone;
}

void add_options(CLI::App& command, AnalyzeArguments& args) {
  command
      .add_option("file", args.file,
                  "A table 'time,value', or one value a line; - is standard input")
      ->type_name("FILE");
  command
      .add_option("--column", args.table.column,
                  "Which one of several columns has the values, by name or number")
      ->type_name("NAME|N");
  command
      .add_option(
          "--time-column", args.table.time_column,
          "Which one has the times (default: the only one of dates, or the first); none: each "
          "row is a step")
      ->type_name("NAME|N|none");
  command
      .add_option("--missing", args.table.missing,
                  "What also stands for a missing value, as in -7777,M")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("VALUE[,VALUE...]");
  command
      .add_option("--horizon", args.horizon,
                  "How far to tell, in samples or as a time, as 2d, 1w or 1y (default: an hour; 48 "
                  "samples where a step is "
                  "an hour or longer, or there are no times)")
      ->type_name("H");
  command
      .add_option("--season", args.season,
                  "The season that forecasts count on, in samples or as a time (default: found)")
      ->type_name("N");
  command
      .add_option("--full", args.full,
                  "What full use is (default: 1 or 100 where the series is a share)")
      ->type_name("VALUE");
  command.add_flag("--json", args.json, "Print everything as JSON");
  command.add_option("--html", args.page, "Also write a page with a plot")->type_name("FILE");
  constexpr const char* kPrometheus = "Prometheus";
  add_prometheus_options(command, args.prometheus,
                         "Where to ask (default: the variable PROMETHEUS_IP)", kPrometheus);
  command.add_option("--query", args.query, "What to ask; it must give one series")
      ->type_name("EXPRESSION")
      ->group(kPrometheus);
  command.add_option("--for", args.last, "How far back (6h)")
      ->type_name("TIME")
      ->group(kPrometheus);
  command.add_option("--step", args.step, "Distance of values (default: about a thousand of them)")
      ->type_name("TIME")
      ->group(kPrometheus);
}

}  // namespace

void add_analyze_command(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("analyze", "Cycles, changes and forecast of any series");
  command->footer(
      "\nExamples:\n  assay analyze gpu.csv\n  assay analyze gpu.csv --horizon 1d --json\n"
      "  assay analyze river.rdb --time-column datetime --column 69928_00065 --missing Ice,Eqp\n"
      "  assay analyze --prometheus http://10.0.0.5:9090 --for 7d \\\n"
      "    --query 'avg(DCGM_FI_DEV_GPU_UTIL)' --html gpus.html\n");
  auto args = std::make_shared<AnalyzeArguments>();
  add_options(*command, *args);
  command->callback([args, &context] { context.action = [args] { return analyze(*args); }; });
}

}  // namespace assay::cli
