// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <assay/analysis/run_analysis.h>
#include <assay/base/result.h>
#include <assay/samples/records.h>
#include <assay/samples/series.h>

/// Finished documents from a session's facts and samples. No files are written here: each function
/// returns its document.
namespace assay::report {

/// A session, analysed, with its samples at hand. `runs[i]` belongs to `session.runs[i]`.
struct SessionView {
  struct Run {
    analysis::RunAnalysis analysis;
    std::unique_ptr<SeriesReader> samples;
    std::string last_words;  ///< the end of what a failed app wrote on standard error
    /// In what the board's state was another than at the session's first run; such runs are not
    /// comparable.
    std::vector<std::string> unlike_first;
  };
  SessionRecord session;
  std::vector<Run> runs;
};

/// The document that `assay run --json` prints (docs/session.schema.json).
Json session_document(const SessionView& view);
/// What a person reads at the end of a run: the answer, the footprint table, goals, advice, gaps.
/// `color`: with ANSI colours. Lines are wrapped at `columns`; a table that is wider loses p50 and
/// p99.
std::string text_summary(const SessionView& view, bool color, size_t columns = 100);
/// One line a sample: run,scope,metric,labels,unit,time_unix_seconds,value.
Result<std::string> samples_csv(const SessionView& view);
/// The same for self-reported values only: run,metric,time_unix_seconds,value,source.
Result<std::string> events_csv(const SessionView& view);
/// One testcase a target and goal; a missed goal or failed run is a failure.
std::string junit_xml(const SessionView& view);
/// One self-contained page that opens offline.
Result<std::string> html_page(const SessionView& view);

}  // namespace assay::report
