// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <iterator>

#include <assay/report/report.h>

namespace assay::report {
namespace {

/// RFC 4180: quoted when needed, quotes doubled.
std::string field(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string joined(const Labels& labels) {
  std::string text;
  for (const auto& [key, value] : labels) {
    if (!text.empty()) text += ';';
    text.append(key).append("=").append(value);
  }
  return text;
}

/// Seconds with all nine digits: a double would lose the last ones.
void append_time(std::string& out, Timestamp time) {
  constexpr int64_t kSecond = 1'000'000'000;
  fmt::format_to(std::back_inserter(out), "{}.{:09}", unix_ns(time) / kSecond,
                 unix_ns(time) % kSecond);
}

/// Appends one line per sample: `before`, time, value, `after`.
void append_lines(std::string& out, const Series& series, const std::string& before,
                  const std::string& after) {
  for (size_t i = 0; i < series.times.size(); ++i) {
    out += before;
    append_time(out, series.times[i]);
    fmt::format_to(std::back_inserter(out), ",{}{}\n", series.values[i], after);
  }
}

/// Calls `write(ordinal, series)` for every series of every run that `wanted` accepts.
template <class Wanted, class Write>
Result<void> for_each_series(const SessionView& view, const Wanted& wanted, const Write& write) {
  for (size_t r = 0; r < view.runs.size() && r < view.session.runs.size(); ++r) {
    if (!view.runs[r].samples) continue;
    const auto infos = view.runs[r].samples->list();
    for (size_t i = 0; i < infos.size(); ++i) {
      if (!wanted(infos[i])) continue;
      ASSAY_TRY(const Series series, view.runs[r].samples->read(i));
      write(view.session.runs[r].ordinal, series);
    }
  }
  return {};
}

}  // namespace

Result<std::string> samples_csv(const SessionView& view) {
  std::string out = "run,scope,metric,labels,unit,time_unix_seconds,value\n";
  ASSAY_CHECK(for_each_series(
      view, [](const SeriesInfo&) { return true; },
      [&](int ordinal, const Series& series) {
        const auto& info = series.info;
        append_lines(out, series,
                     fmt::format("{},{},{},{},{},", ordinal, to_string(info.scope),
                                 field(info.name), field(joined(info.labels)), field(info.unit)),
                     "");
      }));
  return out;
}

Result<std::string> events_csv(const SessionView& view) {
  std::string out = "run,metric,time_unix_seconds,value,source\n";
  ASSAY_CHECK(for_each_series(
      view, [](const SeriesInfo& info) { return info.kind == Kind::event; },
      [&](int ordinal, const Series& series) {
        append_lines(out, series, fmt::format("{},{},", ordinal, field(series.info.name)),
                     "," + field(series.info.source));
      }));
  return out;
}

}  // namespace assay::report
