// SPDX-License-Identifier: Apache-2.0
#include "labels.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include <assay/base/text.h>

namespace assay::report {
namespace {

using Title = std::pair<std::string_view, std::string_view>;
constexpr auto kTitles = std::to_array<Title>({
    {"cpu_cores", "CPU cores"},
    {"cpu_user_cores", "CPU cores, own code"},
    {"cpu_system_cores", "CPU cores, kernel"},
    {"cpu_throttled_ratio", "CPU held back by its limit"},
    {"memory_bytes", "Memory"},
    {"memory_rss_bytes", "Memory, resident"},
    {"cpu_waiting_cores", "Cores it waited for"},
    {"memory_peak_bytes", "Memory, highest so far"},
    {"memory_cache_bytes", "File cache"},
    {"memory_swap_bytes", "Swap"},
    {"page_faults_per_second", "Page faults per second"},
    {"major_page_faults_per_second", "Page faults from disk per second"},
    {"threads", "Threads"},
    {"processes", "Processes"},
    {"open_files", "Open files"},
    {"context_switches_per_second", "Context switches per second"},
    {"disk_read_bytes_per_second", "Disk read"},
    {"disk_write_bytes_per_second", "Disk write"},
    {"disk_reads_per_second", "Disk reads per second"},
    {"disk_writes_per_second", "Disk writes per second"},
    {"network_receive_bytes_per_second", "Network received"},
    {"network_transmit_bytes_per_second", "Network sent"},
    {"pressure_cpu_waiting_ratio", "Waiting for CPU"},
    {"pressure_memory_waiting_ratio", "Waiting for memory"},
    {"pressure_memory_stalled_ratio", "Stalled on memory"},
    {"pressure_io_waiting_ratio", "Waiting for disk"},
    {"pressure_io_stalled_ratio", "Stalled on disk"},
    {"load1", "Load average"},
    {"cpu_frequency_hertz", "CPU frequency"},
    {"temperature_celsius", "Temperature"},
    {"power_watts", "Power"},
    {"battery_charge_ratio", "Battery charge"},
    {"gpu_memory_bytes", "GPU memory"},
    {"gpu_utilization_ratio", "GPU use"},
    {"gpu_memory_bandwidth_bytes_per_second", "GPU memory bandwidth"},
    {"profiler_cpu_cores", "CPU cores used by Assay"},
    {"profiler_memory_bytes", "Memory used by Assay"},
});

constexpr size_t kLabelWidth = 40;

std::string shortened(const std::string& text) {
  if (text.size() <= kLabelWidth) return text;
  size_t cut = kLabelWidth - 1;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0U) == 0x80U) --cut;
  return text.substr(0, cut) + "…";
}

/// How many leading words all commands have in common; an option stays with its value.
size_t common_words(const std::vector<RunRecord>& runs) {
  const auto& first = runs.front().target.command;
  size_t common = first.size();
  for (const auto& run : runs) {
    const auto& words = run.target.command;
    const auto end = std::mismatch(first.begin(), first.end(), words.begin(), words.end()).first;
    common = std::min(common, static_cast<size_t>(end - first.begin()));
  }
  const auto splits_option = [&](const RunRecord& run) {
    const auto& words = run.target.command;
    return common < words.size() && !words[common].starts_with("-");
  };
  if (common > 1 && first[common - 1].starts_with("-") &&
      std::any_of(runs.begin(), runs.end(), splits_option))
    --common;
  return common;
}

std::string limits_words(const Limits& limits) {
  std::string text;
  const auto add = [&text](const std::string& part) {
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
  };
  if (limits.cpus) add(fmt::format("{} cores", format_number(*limits.cpus)));
  if (limits.memory_bytes) add(format_bytes(static_cast<double>(*limits.memory_bytes)));
  add(gpus_text(limits));
  add(link_text(limits.network));
  return text;
}

std::string target_label(const RunRecord& run, size_t common) {
  if (!run.target.name.empty()) return shortened(printable(run.target.name));
  const auto& words = run.target.command;
  const std::vector<std::string> own(
      words.begin() + static_cast<ptrdiff_t>(std::min(common, words.size())), words.end());
  std::string text = printable(join_words(own));
  if (text.empty()) text = limits_words(run.target.limits);
  if (text.empty()) text = fmt::format("target {}", run.target_index + 1);
  return shortened(text);
}

}  // namespace

std::string title_of(std::string_view metric) {
  const auto* found = std::find_if(kTitles.begin(), kTitles.end(),
                                   [&](const Title& t) { return t.first == metric; });
  return std::string(found == kTitles.end() ? metric : found->second);
}

bool is_main(std::string_view metric) {
  constexpr auto kMain = std::to_array<std::string_view>(
      {"cpu_cores", "memory_bytes", "disk_read_bytes_per_second", "disk_write_bytes_per_second",
       "network_receive_bytes_per_second", "network_transmit_bytes_per_second", "power_watts"});
  return metric.starts_with("gpu_") || std::find(kMain.begin(), kMain.end(), metric) != kMain.end();
}

bool has_averages(const analysis::Distribution& line) {
  constexpr uint64_t kFewSamples = 3;
  return line.unit != "bytes" || line.count >= kFewSamples;
}

bool is_working_set(const analysis::Distribution& memory) {
  return memory.source.find("cgroup") != std::string::npos;
}

std::vector<std::string> run_labels(const SessionRecord& session) {
  std::vector<std::string> labels;
  if (session.runs.empty()) return labels;
  const size_t common = common_words(session.runs);
  const bool one_target = std::all_of(session.runs.begin(), session.runs.end(),
                                      [](const RunRecord& r) { return r.target_index == 0; });
  std::set<std::string> taken;
  for (const auto& run : session.runs) {
    std::string label = one_target && run.target.name.empty() ? "" : target_label(run, common);
    if (run.target.repeat > 1 || run.repeat_index > 0 || label.empty()) {
      label += fmt::format("{}run {}", label.empty() ? "" : " · ", run.repeat_index + 1);
    }
    if (!taken.insert(label).second) {
      label += fmt::format(" ({})", run.ordinal);
      taken.insert(label);
    }
    labels.push_back(label);
  }
  return labels;
}

std::string status_words(const RunRecord& run) {
  const std::string detail = run.exit.detail.empty() ? "" : ": " + run.exit.detail;
  switch (run.status) {
    case RunStatus::running:
      return "is still running";
    case RunStatus::finished:
      return "finished by itself";
    case RunStatus::timeout:
      return "ran until its time was up";
    case RunStatus::failed:
      return "failed" + detail;
    case RunStatus::oom:
      return "was killed for using too much memory" + detail;
    case RunStatus::interrupted:
      return "was interrupted" + detail;
  }
  return "ended";
}

bool ran_well(const RunRecord& run) {
  return run.status == RunStatus::finished || run.status == RunStatus::timeout ||
         run.status == RunStatus::running;
}

std::string goal_text(const Goal& goal) {
  if (!goal.text.empty()) return goal.text;
  const std::string suffix = goal.statistic == "mean" ? "" : "." + goal.statistic;
  return fmt::format("{}{} {} {}", goal.metric, suffix, to_string(goal.comparison),
                     format_number(goal.bound));
}

std::string goal_value(const analysis::GoalResult& result) {
  return result.value ? analysis::format_value(*result.value, result.unit) : "never reported";
}

std::string busiest_words(const RunRecord& run) {
  std::vector<std::string> words;
  for (const auto& other : run.others) {
    words.push_back(fmt::format("{} {} cores", other.name, format_number(other.cpu_cores)));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

const analysis::RunAnalysis& analysis_of(const SessionView& view, size_t index) {
  static const analysis::RunAnalysis kNone;
  return index < view.runs.size() ? view.runs[index].analysis : kNone;
}

const std::vector<std::string>& unlike_first(const SessionView& view, size_t index) {
  static const std::vector<std::string> kNone;
  return index < view.runs.size() ? view.runs[index].unlike_first : kNone;
}

std::string valid_utf8(std::string_view text) {
  return Json::parse(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace))
      .get<std::string>();
}

std::string printable(std::string_view text) {
  std::string clean = valid_utf8(text);
  for (size_t i = 0; i < clean.size(); ++i) {
    const auto byte = static_cast<unsigned char>(clean[i]);
    if (byte == '\n' || byte == '\t' || byte == '\r')
      clean[i] = ' ';
    else if (byte < 0x20 || byte == 0x7F)
      clean[i] = '?';
    // U+0080 to U+009F are control characters too: terminals obey them.
    else if (byte == 0xC2 && static_cast<unsigned char>(clean[i + 1]) < 0xA0)
      clean.replace(i, 2, "?");
  }
  return clean;
}

}  // namespace assay::report
