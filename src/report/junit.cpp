// SPDX-License-Identifier: Apache-2.0
#include "labels.h"

#include <algorithm>
#include <fmt/format.h>

#include <assay/report/report.h>

namespace assay::report {
namespace {

using analysis::RunAnalysis;

/// Escapes for attributes and text; XML 1.0 has no way to hold control characters, U+FFFE and
/// U+FFFF, so they go.
std::string xml(std::string_view raw) {
  const std::string text = valid_utf8(raw);
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (text.compare(i, 3, "\xEF\xBF\xBE") == 0 || text.compare(i, 3, "\xEF\xBF\xBF") == 0) {
      i += 2;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\n':
        out += "&#10;";
        break;
      case '\t':
        out += "&#9;";
        break;
      default:
        if (byte >= 0x20 && byte != 0x7F) out += c;
    }
  }
  return out;
}

std::string property(std::string_view name, std::string_view value) {
  return fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", xml(name), xml(value));
}

std::string numbers(const RunAnalysis& analysis) {
  std::string text;
  for (const auto* list : {&analysis.metrics, &analysis.footprint}) {
    for (const auto& [name, d] : *list) {
      text += fmt::format(
          "{}: mean {}, p95 {}, peak {}\n", name, analysis::format_value(d.mean, d.unit),
          analysis::format_value(d.p95, d.unit), analysis::format_value(d.peak, d.unit));
    }
  }
  return text;
}

std::string properties(const SessionRecord& session, const RunRecord& run,
                       const RunAnalysis& analysis) {
  std::string out = "    <properties>\n";
  out += property("session", session.id);
  out += property("device", session.device.hostname);
  out += property("status", to_string(run.status));
  out += property("answer", analysis.answer);
  for (const auto* list : {&analysis.footprint, &analysis.metrics}) {
    for (const auto& [name, d] : *list) {
      out += property(name + ".mean", fmt::format("{}", d.mean));
      out += property(name + ".peak", fmt::format("{}", d.peak));
    }
  }
  return out + "    </properties>\n";
}

struct Case {
  std::string name;
  double time = 0;
  std::string failure;  ///< empty: passed
  std::string type;
};

std::string case_xml(const Case& c, const std::string& suite, const RunAnalysis& analysis) {
  std::string out = fmt::format("    <testcase name=\"{}\" classname=\"{}\" time=\"{:.3f}\"",
                                xml(c.name), xml(suite), c.time);
  if (c.failure.empty()) return out + "/>\n";
  return out + fmt::format(
                   ">\n      <failure message=\"{}\" type=\"{}\">{}</failure>\n"
                   "    </testcase>\n",
                   xml(c.failure), xml(c.type),
                   xml(c.failure + "\n" + analysis.answer + "\n" + numbers(analysis)));
}

std::vector<Case> cases_of(const RunRecord& run, const RunAnalysis& analysis) {
  Case whole = {"runs to its end", std::max(0.0, seconds(run.duration())), "", ""};
  if (!ran_well(run)) {
    whole.failure = "the app " + status_words(run);
    whole.type = std::string(to_string(run.status));
  }
  std::vector<Case> cases = {whole};
  for (const auto& goal : analysis.goals) {
    Case c = {goal_text(goal.goal), 0, "", ""};
    if (!goal.met) {
      c.failure = fmt::format("goal {} missed: {}", goal_text(goal.goal), goal_value(goal));
      c.type = "goal";
    }
    cases.push_back(c);
  }
  return cases;
}

/// UTC without fraction or zone, as JUnit's readers expect.
std::string timestamp(Timestamp t) {
  return format_utc(t).substr(0, 19);
}

size_t failures_in(const std::vector<Case>& cases) {
  return static_cast<size_t>(
      std::count_if(cases.begin(), cases.end(), [](const Case& c) { return !c.failure.empty(); }));
}

/// Runs that an interruption left out are neither passed nor failed.
std::string not_started(const std::string& app, int count) {
  if (count == 0) return "";
  const std::string suite = app + " not started";
  std::string out = fmt::format(
      "  <testsuite name=\"{}\" tests=\"{}\" failures=\"0\" errors=\"0\" skipped=\"{}\" "
      "time=\"0.000\">\n",
      xml(suite), count, count);
  for (int i = 0; i < count; ++i) {
    out += fmt::format(
        "    <testcase name=\"runs to its end\" classname=\"{}\" time=\"0.000\">\n"
        "      <skipped message=\"the session ended before this run\"/>\n    </testcase>\n",
        xml(suite));
  }
  return out + "  </testsuite>\n";
}

}  // namespace

std::string junit_xml(const SessionView& view) {
  const auto labels = run_labels(view.session);
  const std::string app = view.session.app.full_name();
  std::string suites;
  size_t tests = 0;
  size_t failures = 0;
  double time = 0;
  for (size_t i = 0; i < view.session.runs.size(); ++i) {
    const RunRecord& run = view.session.runs[i];
    const RunAnalysis& analysis = analysis_of(view, i);
    const auto cases = cases_of(run, analysis);
    const std::string suite = app + " " + labels[i];
    suites += fmt::format(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"0\" "
        "time=\"{:.3f}\" timestamp=\"{}\" hostname=\"{}\">\n",
        xml(suite), cases.size(), failures_in(cases), cases.front().time, timestamp(run.started),
        xml(view.session.device.hostname));
    suites += properties(view.session, run, analysis);
    for (const auto& c : cases) suites += case_xml(c, suite, analysis);
    suites += "  </testsuite>\n";
    tests += cases.size();
    failures += failures_in(cases);
    time += cases.front().time;
  }
  const int left = view.session.not_started();
  suites += not_started(app, left);
  tests += static_cast<size_t>(left);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" time=\"{:.3f}\">\n{}"
      "</testsuites>\n",
      xml(app), tests, failures, time, suites);
}

}  // namespace assay::report
