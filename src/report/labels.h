// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <assay/report/report.h>

/// Words that all documents share.
namespace assay::report {

/// "CPU", "Memory", "Disk read": what a person calls a metric of the catalogue; other names are
/// given back as they are.
std::string title_of(std::string_view metric);

/// Whether a line of the footprint belongs to what everybody asks for first.
bool is_main(std::string_view metric);

/// Whether a line of the footprint has enough samples for means and percentiles. Memory that was
/// looked at once before the app had started and once after it says nothing but its peak.
bool has_averages(const analysis::Distribution& line);
/// Whether memory is what a control group counts, not what processes map.
bool is_working_set(const analysis::Distribution& memory);

/// One short name per run, unlike all others of the session: its target's name or what tells it
/// apart ("--use-gpu"), and which repeat it is.
std::vector<std::string> run_labels(const SessionRecord& session);

/// "finished", "ran until its time was up", "was killed: out of memory", ...
std::string status_words(const RunRecord& run);
/// Whether the app ran to a normal end.
bool ran_well(const RunRecord& run);

/// "fps >= 10": as the user wrote it, or put together when that was not kept.
std::string goal_text(const Goal& goal);
/// "12.4", "231 ms", or "never reported".
std::string goal_value(const analysis::GoalResult& result);

/// "ffmpeg 0.8 cores, dockerd 0.3 cores": the busiest beside the app; empty when none is known.
std::string busiest_words(const RunRecord& run);

/// The analysis of run `index`, or an empty one when the view has none.
const analysis::RunAnalysis& analysis_of(const SessionView& view, size_t index);

/// In what the state of the board was another than at the first run.
const std::vector<std::string>& unlike_first(const SessionView& view, size_t index);

/// Bytes that are not UTF-8 become U+FFFD.
std::string valid_utf8(std::string_view text);
/// Valid UTF-8 without control characters (each becomes '?', line breaks a space): safe in a
/// terminal.
std::string printable(std::string_view text);

}  // namespace assay::report
